import type { Deed, Exchange } from './exchange.ts';
import { kubernetesDeed } from './kubernetes-deeds.ts';

/** What a call does. */
export function deedOf(exchange: Exchange): Deed {
  switch (exchange.service) {
    case 'ec2':
      return ec2Deed(new URLSearchParams(exchange.body));
    case 'route53':
    case 'clouddns':
      return { ...restDeed(exchange), shared: 'call' }; // a zone takes one change at a time
    case 'gce':
      return restDeed(exchange);
    case 'kubernetes':
      return kubernetesDeed(exchange);
  }
}

function ec2Deed(parameters: URLSearchParams): Deed {
  const action = parameters.get('Action') ?? '';
  const changes = !action.startsWith('Describe') && parameters.get('DryRun') !== 'true';
  return { name: action, changes };
}

/** `POST instances`, `GET instances/*`: the last collection that the path names, and whether one of it is meant. */
function restDeed({ method, path }: Exchange): Deed {
  const [plain = ''] = path.split('?');
  const words = plain.split('/').filter((word) => word !== '');
  const at = words.findLastIndex((word) => collections.has(word));
  const name = at < 0 ? plain : `${words[at]}${at + 1 < words.length ? '/*' : ''}`;
  return { name: `${method} ${name}`, changes: method !== 'GET' && at >= 0 };
}

const collections = new Set([
  'rrset',
  'hostedzone',
  'change',
  'changes',
  'rrsets',
  'managedZones',
  'instances',
  'operations',
]);
