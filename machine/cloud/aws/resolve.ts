import {
  type EC2Client,
  type Filter,
  type Image,
  paginateDescribeImages,
  paginateDescribeSecurityGroups,
  paginateDescribeSubnets,
  type SecurityGroup,
  type Subnet,
} from '@aws-sdk/client-ec2';

import type {
  AwsSpec,
  ImageSelectorTerm,
  ResolvedImage,
  SelectorTerm,
  UnikraftNodeClassSpec,
} from '#schemas/nodeclass/types.ts';

import { toMachineError } from '../../aws/errors.ts';
import { NodeClassError, Unauthorized } from '../../errors.ts';
import { faults } from '../../faults.ts';
import type { ResolvedPlacement } from '../provider.ts';
import { usableImage } from './image.ts';
import { architectureOf } from './instance-types.ts';

/** Where a node class is looked up. */
interface Account {
  readonly ec2: EC2Client;
  /** The id of an image that a parameter of this name holds. */
  readonly parameter: (name: string) => Promise<string>;
}

/** What a node class selects, and how many addresses each of its subnets has left. */
interface Found {
  readonly placement: ResolvedPlacement;
  /** By subnet id. */
  readonly free: ReadonlyMap<string, number>;
}

/**
 * What a node class selects in its account, as EC2 shows it now.
 *
 * @throws NodeClassError naming the condition and the term that selects nothing, or what cannot be used together
 * @throws MachineError for failures that say nothing about the node class
 */
export async function resolvePlacement(
  { ec2, parameter }: Account,
  spec: UnikraftNodeClassSpec,
  aws: AwsSpec,
): Promise<Found> {
  try {
    const [image, subnets, groups] = await Promise.all([
      resolveImage(ec2, await Promise.all(termsOf(spec.image, parameter))),
      resolveSubnets(ec2, aws.subnetSelectorTerms),
      resolveSecurityGroups(ec2, aws.securityGroupSelectorTerms),
    ]);
    const networks = new Set([...subnets, ...groups].map(({ VpcId }) => VpcId));
    if (networks.size > 1) {
      throw new NodeClassError(
        faults.severalNetworks,
        `The selected subnets and security groups lie in several VPCs (${[...networks].join(', ')}); select those of one`,
      );
    }
    return {
      placement: {
        image,
        subnets: subnets.map(placeOf),
        securityGroups: groups.map(({ GroupId = '' }) => GroupId),
      },
      free: new Map(
        subnets.map(({ SubnetId = '', AvailableIpAddressCount = 0 }) => [
          SubnetId,
          AvailableIpAddressCount,
        ]),
      ),
    };
  } catch (error) {
    const known = toMachineError(error, `Looking the node class up in ${aws.region}`);
    if (!(known instanceof Unauthorized)) throw known;
    throw new NodeClassError(faults.credentials, known.message, { cause: error });
  }
}

function placeOf({ SubnetId = '', AvailabilityZone = '', AvailabilityZoneId = '' }: Subnet) {
  return { id: SubnetId, zone: AvailabilityZone, zoneID: AvailabilityZoneId };
}

/** A term that names a parameter becomes one that names an id; its other parts hold as well. */
function termsOf(
  { id, selectorTerms = [] }: UnikraftNodeClassSpec['image'],
  parameter: Account['parameter'],
): Promise<ImageSelectorTerm>[] {
  const terms: readonly ImageSelectorTerm[] = id === undefined ? selectorTerms : [{ id }];
  return terms.map(async (term) => {
    const { ssmParameter } = term;
    return ssmParameter === undefined ? term : { ...term, id: await parameter(ssmParameter) };
  });
}

async function resolveImage(
  ec2: EC2Client,
  terms: readonly ImageSelectorTerm[],
): Promise<ResolvedImage> {
  const found = (await Promise.all(terms.map(async (term) => imagesOf(ec2, term)))).flat();
  const newest = found.toSorted(newestFirst)[0];
  if (!newest?.ImageId) {
    throw new NodeClassError(
      faults.imageNotFound,
      `No available image matches ${describe(terms)}; check id, name and owner, and that it is shared with this account`,
    );
  }
  const architectures = new Set(found.map((each) => architectureOf([each.Architecture])));
  if (architectures.size > 1) {
    throw new NodeClassError(
      faults.imageAmbiguous,
      `${describe(terms)} matches images of several architectures, so the next one to appear could change the machines' kind; narrow the terms to one`,
    );
  }
  return usableImage(newest);
}

/** Newest first; images of one second in the order of their ids, so that every process picks the same. */
function newestFirst(a: Image, b: Image): number {
  const [left, right] = [a, b].map(({ CreationDate = '', ImageId = '' }) => CreationDate + ImageId);
  return (left ?? '') < (right ?? '') ? 1 : -1;
}

async function imagesOf(ec2: EC2Client, term: ImageSelectorTerm): Promise<Image[]> {
  // without an owner, anyone's public image of that name would match: only one's own and Amazon's may
  const owners = term.owner === undefined ? ['self', 'amazon'] : [term.owner];
  const pages = paginateDescribeImages(
    { client: ec2 },
    {
      ...(term.id === undefined || term.owner !== undefined ? { Owners: owners } : {}),
      Filters: [{ Name: 'state', Values: ['available'] }, ...filtersOf(term, 'image-id', 'name')],
    },
  );
  return collect(pages, (page) => page.Images);
}

async function resolveSubnets(ec2: EC2Client, terms: readonly SelectorTerm[]): Promise<Subnet[]> {
  const lists = terms.map(async (term) => {
    const Filters = [
      { Name: 'state', Values: ['available'] },
      ...filtersOf(term, 'subnet-id', 'tag:Name'),
    ];
    return collect(paginateDescribeSubnets({ client: ec2 }, { Filters }), (page) => page.Subnets);
  });
  const found = unique((await Promise.all(lists)).flat(), ({ SubnetId }) => SubnetId);
  if (found.length === 0) {
    throw new NodeClassError(
      faults.subnetsNotFound,
      `No subnet matches ${describe(terms)}; tag the subnets, or correct spec.aws.subnetSelectorTerms`,
    );
  }
  return found;
}

async function resolveSecurityGroups(
  ec2: EC2Client,
  terms: readonly SelectorTerm[],
): Promise<SecurityGroup[]> {
  const lists = terms.map(async (term) => {
    const pages = paginateDescribeSecurityGroups(
      { client: ec2 },
      { Filters: filtersOf(term, 'group-id', 'group-name') },
    );
    return collect(pages, (page) => page.SecurityGroups);
  });
  const found = unique((await Promise.all(lists)).flat(), ({ GroupId }) => GroupId);
  if (found.length === 0) {
    throw new NodeClassError(
      faults.securityGroupsNotFound,
      `No security group matches ${describe(terms)}; tag one, or correct spec.aws.securityGroupSelectorTerms`,
    );
  }
  return found;
}

/** All parts of a term hold at once; a tag value `*` asks only that the tag is there. */
function filtersOf(term: SelectorTerm, idFilter: string, nameFilter: string): Filter[] {
  const tags = Object.entries(term.tags ?? {}).map(([key, value]) =>
    value === '*' ? { Name: 'tag-key', Values: [key] } : { Name: `tag:${key}`, Values: [value] },
  );
  return [
    ...(term.id === undefined ? [] : [{ Name: idFilter, Values: [term.id] }]),
    ...(term.name === undefined ? [] : [{ Name: nameFilter, Values: [term.name] }]),
    ...tags,
  ];
}

async function collect<Page, Item>(
  pages: AsyncIterable<Page>,
  items: (page: Page) => Item[] | undefined,
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pages) all.push(...(items(page) ?? []));
  return all;
}

/** Each thing once, in the order of its id: what is resolved enters a hash. */
function unique<Item>(items: readonly Item[], idOf: (item: Item) => string | undefined): Item[] {
  const byId = new Map(items.map((item) => [idOf(item) ?? '', item]));
  return [...byId.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

/** `tags team=web and kind=node, or name default` */
function describe(terms: readonly ImageSelectorTerm[]): string {
  return terms.map(describeTerm).join(', or ') || 'no terms at all';
}

function describeTerm({ tags = {}, ...fields }: ImageSelectorTerm): string {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`);
  const others = Object.entries(fields).map(([field, value]) => `${field} ${value}`);
  return [...others, ...(pairs.length > 0 ? [`tags ${pairs.join(' and ')}`] : [])].join(', ');
}
