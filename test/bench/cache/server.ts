/**
 * An API server that knows Pods only, and answers as kube-apiserver does: a list with all of them, or a watch that begins
 * with them (KEP-3157), in JSON or in protobuf as it is asked, one piece of the chunked body for each Pod. What it
 * sends is made before anybody asks, framing included, so that little of what is measured is its own.
 *
 * Usage: node server.ts <port> <certificate.pem> <key.pem> <mix> <Pods>
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type TLSSocket } from 'node:tls';

import { framed } from '#kube/testing/protobuf-events.ts';
import { written } from '#kube/testing/protobuf-writer.ts';

import { bookmarkFields, podFields } from './pod-fields.ts';
import { podOf, type Mix } from './pods.ts';

const [port = '0', certificate = '', key = '', mix = 'fifty-alike', count = '0'] =
  process.argv.slice(2);
const protobuf = 'application/vnd.kubernetes.protobuf;stream=watch';
const lastPiece = '0\r\n\r\n';
/** Bytes that are handed to the socket at once. */
const step = 256 * 1024;
const type = { apiVersion: 'v1', kind: 'Pod' };

const pods = Array.from({ length: Number(count) }, (_, index) => podOf(index, mix as Mix));
const resourceVersion = '9000000';
const metadata = { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } };

const frames = joined([
  ...pods.map((pod) => framed('ADDED', type, written(podFields, pod))),
  framed('BOOKMARK', type, written(bookmarkFields, { metadata })),
]);
const lines = joined([
  ...pods.map((pod) => line('ADDED', { ...type, ...pod })),
  line('BOOKMARK', { ...type, metadata }),
]);
/** Lists of built-in kinds leave out what each of their items is; watches do not. */
const listed = joined([
  Buffer.from(
    `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${resourceVersion}"},"items":[`,
  ),
  ...pods.map((pod, index) => Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(pod)}`)),
  Buffer.from(']}\n'),
]);
const version = joined([Buffer.from(JSON.stringify({ major: '1', minor: '37' }))]);

createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (socket) => {
  socket.on('error', () => socket.destroy()); // a reader that has measured just goes
  socket.on('data', (request: Buffer) => void answer(socket, request.toString('latin1')));
}).listen(Number(port), '127.0.0.1');

/** Requests have no body and come one at a time, each in one piece. */
async function answer(socket: TLSSocket, request: string): Promise<void> {
  const [, target = '/'] = request.split(' ', 2);
  const { pathname, searchParams } = new URL(target, 'https://server');
  const isProtobuf = /^accept: [^\r]*vnd\.kubernetes\.protobuf/im.test(request);
  const isWatch = searchParams.get('watch') === 'true';
  begin(socket, isWatch && isProtobuf ? protobuf : 'application/json');
  if (isWatch) {
    const all = isProtobuf ? frames : lines;
    return searchParams.has('sendInitialEvents') ? send(socket, all) : undefined;
  }
  await send(socket, pathname.startsWith('/version') ? version : listed);
  socket.write(lastPiece);
}

function begin(socket: TLSSocket, contentType: string): void {
  const headers = `Content-Type: ${contentType}\r\nTransfer-Encoding: chunked`;
  socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`);
}

async function send(socket: TLSSocket, bytes: Buffer): Promise<void> {
  for (let from = 0; from < bytes.length && !socket.destroyed; from += step) {
    if (socket.write(bytes.subarray(from, from + step))) continue;
    // oxlint-disable-next-line no-await-in-loop -- as fast as the client reads
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
  }
}

function line(event: string, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type: event, object })}\n`);
}

/** Each of them a piece of a chunked body. */
function joined(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(
    pieces.flatMap((piece) => [
      Buffer.from(`${piece.length.toString(16)}\r\n`),
      piece,
      Buffer.from('\r\n'),
    ]),
  );
}
