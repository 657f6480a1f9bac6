/** A customer's folder with the SDK in it, and a service: programs of the documents run here as they are shown. */
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
/** Beyond the keys that are made for samples. */
const FIRST_KEY_NUMBER = 150;
const BALANCE_CENTS = 100_000n;
/** The longest is a whole guide, with everything that it waits for. */
const PROGRAM_TIMEOUT_MS = 3 * 60_000;

export interface SdkRunner {
  readonly world: World;
  readonly api: V1Client;
  /** What the SDK was answered: `201 POST /v1/servers`. */
  readonly responses: string[];
  /** Runs a module, and says what it exports. `afterChange` comes before the program hears what a change was answered. */
  run(name: string, source: string, afterChange?: (answer: Response) => Promise<void>): Promise<object>;
  close(): Promise<void>;
}

/** The program's home and working folder is the customer's, its token in the environment, until it is closed. */
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
  let onChange: (answer: Response) => Promise<void> = async () => undefined;
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
      // Each with a key of its own: the account takes one only once.
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
