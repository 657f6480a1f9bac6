/** A customer's folder with the SDK installed, and a service. Programs from the docs run here unchanged. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withTimeout } from '../cli/support/with-timeout.ts';
import { publicKey } from '../panel/support/estate.ts';
import { isoFile } from '../support/iso.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';

const SDK = fileURLToPath(new URL('../../packages/sdk', import.meta.url));
/** Above the key numbers that samples use. */
const FIRST_KEY_NUMBER = 150;
const BALANCE_CENTS = 100_000n;
/** The longest program is a whole guide, including everything that it waits for. */
const PROGRAM_TIMEOUT_MS = 3 * 60_000;

export interface SdkRunner {
  readonly world: World;
  readonly api: V1Client;
  /** Responses to the SDK, such as `201 POST /v1/servers`. */
  readonly responses: string[];
  /**
   * Runs a module and returns its exports. `afterChange` runs before the program receives the response to a
   * change.
   */
  run(name: string, source: string, afterChange?: (response: Response) => Promise<void>): Promise<object>;
  close(): Promise<void>;
}

/** Until `close`, the process runs in the customer's folder, with their token in the environment. */
export async function startSdkRunner(): Promise<SdkRunner> {
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  const customer = await world.customer();
  await world.addBalance(customer, BALANCE_CENTS);
  const token = await createApiToken(customer);
  const folder = await mkdtemp(join(tmpdir(), 'skerry-samples-'));
  await mkdir(join(folder, 'node_modules/@skerry'), { recursive: true });
  await symlink(SDK, join(folder, 'node_modules/@skerry/sdk'));
  await mkdir(join(folder, '.ssh'));
  for (const file of ['image.iso', 'rescue.iso']) await writeFile(join(folder, file), isoFile());
  const original = { cwd: process.cwd(), home: process.env.HOME, fetch: globalThis.fetch };
  Object.assign(process.env, { HOME: folder, SKERRY_TOKEN: token });
  process.chdir(folder);
  const responses: string[] = [];
  let keys = 0;
  let onChange: (response: Response) => Promise<void> = async () => undefined;
  globalThis.fetch = async (input, init) => {
    const response = await original.fetch(input, init);
    if (!(input instanceof Request)) return response;
    responses.push(`${response.status} ${input.method} ${new URL(input.url).pathname}`);
    if (input.method !== 'GET' && response.ok) await onChange(response.clone());
    return response;
  };
  return {
    world,
    api: V1Client.forUrl(world.url, token),
    responses,
    run: async (name, source, afterChange = async () => undefined) => {
      // An account rejects a key that it already has, so each program uses another one.
      keys += 1;
      await writeFile(
        join(folder, '.ssh/id_ed25519.pub'),
        `${publicKey(FIRST_KEY_NUMBER + keys, 'me@laptop')}\n`,
      );
      const file = join(folder, `${name}.mts`);
      await writeFile(file, source);
      responses.length = 0;
      onChange = afterChange;
      const program = import(pathToFileURL(file).href) as Promise<object>;
      return await withTimeout(program, `the end of the program ${name}`, PROGRAM_TIMEOUT_MS);
    },
    close: async () => {
      globalThis.fetch = original.fetch;
      process.env.HOME = original.home;
      process.chdir(original.cwd);
      await world.close();
      await rm(folder, { recursive: true });
    },
  };
}
