/** A project in a file, an account for it, and a proxy that kills the CLI at a chosen request. */
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PUBLIC_KEY } from '../../../http/v1/contract/estate.ts';
import { createApiToken, type JsonBody, V1Client } from '../../../support/v1-client.ts';
import type { World } from '../../../support/world.ts';
import { createFolder } from '../../support/folder.ts';
import { type Cli, type CliResult, createCli } from '../../support/run-cli.ts';

export interface Shop {
  readonly api: V1Client;
  readonly folder: string;
  readonly cli: Cli;
  readonly write: (text: string) => void;
  readonly apply: (...words: readonly string[]) => Promise<CliResult>;
  /** Returns all resources of a kind, by name. */
  readonly named: (path: string) => Promise<Readonly<Record<string, JsonBody>>>;
}

export async function openShop(world: World, balanceCents = 100_000n): Promise<Shop> {
  const customer = await world.customer();
  await world.addBalance(customer, balanceCents);
  const token = await createApiToken(customer);
  const api = V1Client.forApp(world.http, token);
  const folder = createFolder();
  writeFileSync(join(folder, 'id.pub'), `${PUBLIC_KEY}\n`);
  writeFileSync(join(folder, 'cloud.yaml'), '#cloud-config\npackages: [nginx]\n');
  const cli = createCli({ url: world.url, token });
  return {
    api,
    folder,
    cli,
    write: (text) => writeFileSync(join(folder, 'skerry.yaml'), text),
    apply: (...words) => cli.with({ cwd: folder }, 'apply', '-f', 'skerry.yaml', ...words),
    named: async (path) => {
      const { body } = await api.get(`${path}?page_size=100`);
      return Object.fromEntries(body.data.map((item: JsonBody) => [item.name, item]));
    },
  };
}

/**
 * Runs `skerry apply`, and kills it instead of delivering the response to the `nth` request that changes
 * something.
 */
export async function applyUntilKilled(
  shop: Shop,
  target: string,
  nth: number,
): Promise<{ readonly wasKilled: boolean }> {
  let calls = 0;
  let kill = () => {};
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming;
    if (method !== 'GET') calls += 1;
    const isLast = method !== 'GET' && calls === nth;
    const onward = request(new URL(url, target), { method, headers }, (response) => {
      if (isLast) return kill();
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const given = { cwd: shop.folder, env: { SKERRY_API_URL: url } };
  const { child, result } = shop.cli.start(given, 'apply', '-f', 'skerry.yaml', '--yes');
  kill = () => child.kill('SIGKILL');
  try {
    const { code } = await result;
    return { wasKilled: code === null };
  } finally {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  }
}
