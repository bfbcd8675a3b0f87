/**
 * Pods speak of paths and ports of their own; here they all share one computer. So what a container is told is
 * translated: paths under a mount to the folder of its volume, declared ports to free ones.
 *
 * It reaches values that are such a path or port as a whole, stand behind `--flag=`, or are joined by colons or
 * commas. A program must therefore be told its ports by argument or environment; one that takes a port from its
 * own defaults meets its other replicas there.
 */
import { join } from 'node:path';

import type { Container } from '#schemas/kubernetes/core.ts';

export interface Mount {
  readonly mountPath: string;
  readonly local: string;
}

export interface Surroundings {
  /** The longest mountPath first, since mounts lie inside of mounts. */
  readonly mounts: readonly Mount[];
  /** Local port by container port. */
  readonly ports: ReadonlyMap<number, number>;
}

/** @param volumes local folder by volume name */
export function mountsOf(container: Container, volumes: ReadonlyMap<string, string>): Mount[] {
  return (container.volumeMounts ?? [])
    .flatMap(({ name, mountPath, subPath }) => {
      const folder = volumes.get(name);
      const local = folder === undefined || !subPath ? folder : join(folder, subPath);
      return local === undefined ? [] : [{ mountPath: mountPath.replace(/\/+$/, ''), local }];
    })
    .toSorted((a, b) => b.mountPath.length - a.mountPath.length);
}

/** Where a path of the Pod lies on this computer. */
export function localPath(path: string, mounts: readonly Mount[]): string {
  const mount = mounts.find(({ mountPath: at }) => path === at || path.startsWith(`${at}/`));
  return mount ? mount.local + path.slice(mount.mountPath.length) : path;
}

/** A value of the environment, or an argument, in words of this computer. */
export function translate(text: string, { mounts, ports }: Surroundings): string {
  const [, flag = '', value = text] = /^(--?[\w.-]+=)(.*)$/s.exec(text) ?? [];
  return flag + (translatedAddress(value, ports) ?? translatedPaths(value, mounts));
}

/**
 * The environment in words of this computer. What this computer itself gave is so already: a folder of its own may
 * lie under a path that the Pod mounts something at, as all do whose home is under /tmp.
 */
export function translateEnv(
  env: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
  around: Surroundings,
): Record<string, string> {
  const translated = Object.entries(env).map(([name, value]) => [
    name,
    value === given[name] ? value : translate(value, around),
  ]);
  return Object.fromEntries(translated) as Record<string, string>;
}

/** `8443`, `:8443`, or that behind an address that means "here". */
const HERE = /^((?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\]|\*)?:)?(\d{1,5})$/;

function translatedAddress(value: string, ports: ReadonlyMap<number, number>): string | undefined {
  const [, host = '', port] = HERE.exec(value) ?? [];
  const local = port === undefined ? undefined : ports.get(Number(port));
  return local === undefined ? undefined : `${host}${local}`;
}

function translatedPaths(value: string, mounts: readonly Mount[]): string {
  return value
    .split(/([:,])/)
    .map((part) => localPath(part, mounts))
    .join('');
}
