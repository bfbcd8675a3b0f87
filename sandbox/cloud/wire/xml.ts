/**
 * XML as AWS writes and reads it: elements and text, no attributes that matter, no mixed content.
 */

/** Element names to what stands inside; an array repeats its element, undefined leaves it out. */
export interface XmlTree {
  readonly [element: string]: XmlValue;
}
export type XmlValue = string | number | boolean | undefined | XmlTree | readonly XmlValue[];

/** A list in EC2's spelling: `<thingSet><item>…</item></thingSet>`. */
export function items(values: readonly XmlValue[]): XmlTree {
  return { item: values };
}

/** @param namespace  of the outermost element, which carries it as `xmlns` */
export function xmlDocument(root: string, tree: XmlTree, namespace: string): string {
  const body = Object.entries(tree).map(([name, value]) => element(name, value));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="${namespace}">${body.join('')}</${root}>`;
}

function element(name: string, value: XmlValue): string {
  if (value === undefined) return '';
  if (isList(value)) return value.map((one) => element(name, one)).join('');
  if (typeof value !== 'object') return `<${name}>${escape(String(value))}</${name}>`;
  const inside = Object.entries(value).map(([child, content]) => element(child, content));
  return `<${name}>${inside.join('')}</${name}>`;
}

const isList = (value: XmlValue): value is readonly XmlValue[] => Array.isArray(value);

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An element that was read: its text, or its children. */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

export class MalformedXml extends Error {}

/** Reads a document; throws {@link MalformedXml}. */
export function readXml(document: string): XmlElement {
  const top: Open = { name: '', text: '', children: [] };
  const open: Open[] = [top];
  for (const [token] of document.matchAll(/<[^>]+>|[^<]+/g)) take(token, open);
  const [root] = top.children;
  if (open.length !== 1 || !root) throw new MalformedXml('The document ends inside an element.');
  return root;
}

interface Open {
  name: string;
  text: string;
  children: Open[];
}

function take(token: string, open: Open[]): void {
  const current = open.at(-1)!;
  if (token.startsWith('<?') || token.startsWith('<!')) return;
  if (!token.startsWith('<')) {
    current.text += unescape(token);
  } else if (token.startsWith('</')) {
    if (current.name !== token.slice(2, -1).trim())
      throw new MalformedXml(`${token} closes nothing.`);
    open.pop();
  } else {
    const made: Open = { name: token.replaceAll(/^<|\s[^]*$|\/?>$/g, ''), text: '', children: [] };
    current.children.push(made);
    if (!token.endsWith('/>')) open.push(made);
  }
}

const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

const unescape = (text: string): string =>
  text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return named[name] ?? all;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });

/** The first child of that name. */
export function child(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.find((one) => one.name === name);
}

/** Children of a list element, whatever they are called. */
export function list(parent: XmlElement | undefined, name: string): readonly XmlElement[] {
  return child(parent, name)?.children ?? [];
}

/** Trimmed text of a child; undefined when it is absent. */
export function textOf(parent: XmlElement | undefined, name: string): string | undefined {
  return child(parent, name)?.text.trim();
}
