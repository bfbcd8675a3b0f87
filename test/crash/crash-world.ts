import { join } from 'node:path';

import type { KubeClient } from '#kube/client/client.ts';
import { isTrue } from '#kube/conditions.ts';
import { Authority } from '#pki/authority.ts';
import { requestToken, writeServiceAccountFiles } from '#sandbox/control-plane/service-account.ts';
import { applyAll } from '#sandbox/manifests/apply.ts';
import type { Manifest } from '#sandbox/manifests/render.ts';
import type { Tools } from '#sandbox/tools/tools.ts';
import { World } from '#sandbox/world/world.ts';
import type { KubeObject } from '#schemas/kubernetes/meta.ts';
import { unikraftNodeClasses } from '#schemas/nodeclass/types.ts';
import { hours, milliseconds, seconds, type Duration } from '#schemas/time/clock.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';
import { inProcessKraftlet } from '#test/world/in-process-kraftlet.ts';

import { furnish, kraftletNamespaces } from './changes.ts';
import type { Service } from './gate/exchange.ts';
import { Gate } from './gate/gate.ts';
import { Proxy } from './gate/proxy.ts';
import { Subjects } from './gate/subjects.ts';

const account = { namespace: 'karpenter-unikraft', name: 'karpenter-unikraft-controller' };

/**
 * A real control plane and both clouds, with a gate before each server that the controller talks to. The controller is
 * the bundle that the image runs.
 */
export class CrashWorld {
  readonly world: World;
  readonly clock = new SystemClock();
  readonly subjects = new Subjects();
  /** What is let through; whoever begins a variant puts a new one here. */
  gate = new Gate(this.subjects);
  readonly #proxies = new Map<Service, Proxy>();
  #directory = '';

  private constructor(world: World) {
    this.world = world;
  }

  static async start(tools: Tools): Promise<CrashWorld> {
    const dns = { server: '' };
    const world = await World.start({
      tools,
      processes: false,
      bundles: true,
      machineProcesses: false,
      programs: { 'ghcr.io/unikraft-cloud/kraftlet': inProcessKraftlet(() => dns.server) },
      webhookPort: () => undefined, // nobody answers, and both hooks are Ignore
    });
    dns.server = world.cloud.dnsServer;
    const crash = new CrashWorld(world);
    try {
      await crash.#raiseGates();
      await furnish(world);
      return crash;
    } catch (error) {
      await crash.stop();
      throw error;
    }
  }

  get client(): KubeClient {
    return this.world.client;
  }

  /** Where the bundles are. */
  get app(): string {
    return join(this.world.run.dir, 'app');
  }

  /** The controller's environment: it finds everything behind a gate. */
  get environment(): Record<string, string | undefined> {
    const { cloud, plane, tools } = this.world;
    const urls = [cloud.ec2, cloud.route53, cloud.gce, cloud.cloudDns].map(({ url }) => url);
    const gates = services.map((service) => this.#proxy(service).url);
    const led = Object.entries(cloud.env).map(([name, value]) => {
      const index = urls.findIndex((url) => value.includes(new URL(url).host));
      const [from = '', to = ''] = [urls[index], gates[index]].map(
        (url) => url && new URL(url).host,
      );
      return [name, from === '' ? value : value.replace(from, to)] as const;
    });
    return {
      ...plane.environment(this.#directory),
      KUBERNETES_SERVICE_PORT: String(this.#proxy('kubernetes').port),
      ...Object.fromEntries(led),
      DNS_SERVERS: cloud.dnsServer,
      HELM: tools.helm,
      KRAFTLET_NAMESPACES: kraftletNamespaces,
      LISTEN_HOST: '127.0.0.1',
      METRICS_PORT: '0',
      HEALTH_PROBE_PORT: '0',
      BATCH_IDLE_DURATION: '200ms',
      PATH: process.env['PATH'],
    };
  }

  /** From now on nobody reaches the API server through the gate, or anybody does again. */
  setApiServerAway(away: boolean): void {
    const proxy = this.#proxy('kubernetes');
    proxy.away = away;
    if (away) proxy.cut();
  }

  async apply(...objects: KubeObject[]): Promise<void> {
    await applyAll(this.client, objects as Manifest[]);
  }

  /** Until machines can be made from the node class as it is now. */
  async untilUsable(name: string): Promise<void> {
    await this.until(`node class ${name} Ready`, seconds(60), async () => {
      const { metadata, status } = await this.client.get(unikraftNodeClasses, { name });
      const isSeen = status?.observedGeneration === metadata.generation;
      return isSeen && isTrue(status?.conditions, 'Ready');
    });
  }

  /** @throws Error when it is not so within that time */
  async until(what: string, within: Duration, isSo: () => Promise<boolean>): Promise<void> {
    const end = this.clock.now() + within;
    while (!(await isSo())) {
      if (this.clock.now() > end) throw new Error(`after ${within / 1000} s: not ${what}`);
      // oxlint-disable-next-line no-await-in-loop -- asked until it is so
      await this.clock.sleep(milliseconds(200));
    }
  }

  async stop(): Promise<void> {
    this.gate.thaw();
    for (const proxy of this.#proxies.values()) await proxy.stop();
    await this.world.stop();
  }

  async #raiseGates(): Promise<void> {
    const { plane, cloud, run } = this.world;
    const authority = await Authority.create(this.clock, {
      commonName: 'gate',
      validity: hours(24),
    });
    const leaf = await authority.issue({
      names: ['localhost'],
      addresses: ['127.0.0.1'],
      validity: hours(24),
    });
    const upstreams: [Service, string][] = [
      ['ec2', cloud.ec2.url],
      ['route53', cloud.route53.url],
      ['gce', cloud.gce.url],
      ['clouddns', cloud.cloudDns.url],
    ];
    const gate = (...call: Parameters<Gate['admit']>) => this.gate.admit(...call);
    const kubernetes = { upstream: plane.server, ca: plane.caPem, leaf };
    this.#proxies.set(
      'kubernetes',
      await Proxy.start({ service: 'kubernetes', gate, ...kubernetes }),
    );
    for (const [service, upstream] of upstreams)
      this.#proxies.set(service, await Proxy.start({ service, gate, upstream }));
    this.#directory = join(run.dir, 'behind-the-gate');
    await writeServiceAccountFiles(this.#directory, {
      token: await requestToken(this.client, account),
      caPem: authority.pem.certificate,
      namespace: account.namespace,
    });
  }

  #proxy(service: Service): Proxy {
    const proxy = this.#proxies.get(service);
    if (!proxy) throw new Error(`there is no gate before ${service}`);
    return proxy;
  }
}

const services = ['ec2', 'route53', 'gce', 'clouddns'] as const;
