/** A webhook receiver that accepts everything. The arguments are the files of its certificate and key. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const [cert = '', key = ''] = process.argv.slice(2);
const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  request.resume().on('end', () => response.writeHead(200).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready https://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});
process.once('SIGTERM', () => process.exit(0));
