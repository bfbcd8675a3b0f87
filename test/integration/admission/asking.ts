import { readFile } from 'node:fs/promises';

import { Agent, request } from 'undici';
import { parse } from 'yaml';

import type { ControlPlane } from '#sandbox/control-plane/control-plane.ts';
import type { KubeObject, Status } from '#schemas/kubernetes/meta.ts';
import { apiVersionOf, type Key, type Resource } from '#schemas/kubernetes/resource.ts';

/** What the API server said, with the warnings that clients print and the project's own client does not need. */
export interface Answer<T = KubeObject> {
  readonly status: number;
  /** What would be stored, or why not. */
  readonly body: T & Partial<Status>;
  readonly warnings: readonly string[];
}

export interface Question {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'GET';
  readonly resource: Resource;
  /** Without a name for POST. */
  readonly key: Partial<Key>;
  readonly subresource?: string | undefined;
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
  readonly type?: string;
}

/** Asks an API server as an administrator, and refuses nothing itself. */
export class Asker {
  readonly #server: string;
  readonly #token: string;
  readonly #agent: Agent;

  private constructor(server: string, token: string, agent: Agent) {
    this.#server = server;
    this.#token = token;
    this.#agent = agent;
  }

  static async open(plane: ControlPlane): Promise<Asker> {
    const { users } = parse(await readFile(plane.kubeconfig, 'utf8')) as {
      users: { user: { token: string } }[];
    };
    const agent = new Agent({ connect: { ca: plane.caPem }, connections: 8 });
    return new Asker(plane.server, users[0]?.user.token ?? '', agent);
  }

  async ask<T = KubeObject>(question: Question): Promise<Answer<T>> {
    const { method, body, query = {}, type = 'application/json' } = question;
    const url = `${this.#server}${pathOf(question)}?${new URLSearchParams(query).toString()}`;
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(url, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': type },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = (await answer.json()) as Answer<T>['body'];
    return { status: statusCode, body: said, warnings: warningsIn(headers['warning']) };
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

function pathOf({ resource, key, subresource }: Question): string {
  return [
    resource.group === '' ? '/api' : '/apis',
    apiVersionOf(resource),
    ...(key.namespace === undefined ? [] : ['namespaces', key.namespace]),
    resource.plural,
    ...(key.name === undefined ? [] : [key.name]),
    ...(subresource === undefined ? [] : [subresource]),
  ].join('/');
}

/** `299 - "text"` for each; in one header or in several. */
function warningsIn(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((line) => [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)])
    .map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}

/** A few at a time: an API server that is asked everything at once answers nothing in time. */
export async function inParallel<A, B>(
  items: readonly A[],
  work: (item: A, index: number) => Promise<B>,
  width = 6,
): Promise<B[]> {
  const results: B[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      // oxlint-disable-next-line no-await-in-loop -- each worker does one after the other
      results[index] = await work(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
