/**
 * The peer of the straight measure: node:https that parses a review and allows it, and knows nothing else.
 *
 * Usage: node bare.ts <port> <certificate.pem> <key.pem>
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [port = '0', certificate = '', key = ''] = process.argv.slice(2);

createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } };
    const answer = JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: asked.request.uid, allowed: true },
    });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
    });
    response.end(answer);
  });
}).listen(Number(port), '127.0.0.1');
