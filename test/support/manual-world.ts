/** A world whose driver has no dedicated machines: the operator sells and maintains them with commands. */
import assert from 'node:assert/strict';
import { createHostRegistrar } from '../../src/compose/seed.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import { runOperator } from '../../src/operator/run.ts';
import { scratchFolder } from './scratch-folder.ts';
import { startWorld, type World } from './world.ts';

export interface ManualWorld extends World {
  /** The environment for a command that runs as a separate process on the same database. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs an operator command; fails the test unless it exits 0. `confirm`: the reply to its prompt. */
  runOk(argv: readonly string[], confirm?: boolean): Promise<string>;
  /** Runs a command that must exit 1; returns its output. */
  runFailing(argv: readonly string[], confirm?: boolean): Promise<string>;
}

/**
 * QEMU need not be installed: its driver is called only to create virtual machines, which these tests never
 * do.
 */
export async function startManualWorld(): Promise<ManualWorld> {
  const settings = {
    SKERRY_COMPUTE: 'qemu',
    SKERRY_QEMU_DIR: scratchFolder(),
    SKERRY_SECRET_KEY: KeyRing.generate(),
    SKERRY_CONTACT: 'help@host.example',
  };
  const rates = { SKERRY_RATE_CAPACITY: '1000000', SKERRY_PROVISION_RATE_CAPACITY: '1000000' };
  const world = await startWorld({ ...settings, ...rates });
  const { service, db } = world.opened;
  const register = createHostRegistrar(service, null);
  const resources = {
    settings: () => [],
    database: async () => db,
    service: async () => ({ service, register, carryOut: async () => undefined, coins: null }),
  };
  async function run(expected: number, argv: readonly string[], confirm?: boolean): Promise<string> {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const ask = confirm === undefined ? null : async () => confirm;
    const code = await runOperator(argv, resources, undefined, { out: write, err: write, ask });
    const output = lines.join('\n');
    assert.equal(code, expected, `${argv.join(' ')}: ${output}`);
    return output;
  }
  return Object.assign(world, {
    environment: { ...settings, SKERRY_DATA_DIR: scratchFolder(), DATABASE_URL: await databaseUrlOf(world) },
    runOk: (argv: readonly string[], confirm?: boolean) => run(0, argv, confirm),
    runFailing: (argv: readonly string[], confirm?: boolean) => run(1, argv, confirm),
  });
}

async function databaseUrlOf({ opened }: World): Promise<string> {
  const server = JSON.parse(process.env.SKERRY_TEST_PG ?? '') as Record<string, string | number>;
  const row = await opened.db.row<{ name: string }>('select current_database() as name');
  const url = new URL(`postgresql://x@x/${row?.name}`);
  for (const part of ['host', 'port', 'user', 'password'])
    if (server[part] !== undefined) url.searchParams.set(part, String(server[part]));
  return url.href;
}
