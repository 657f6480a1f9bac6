/**
 * Kills a service with SIGKILL at the places of a scenario. A first run lists them: before and after each
 * commit and each driver call. Then the scenario runs again for each place, and after the restart the
 * assertions must hold. `npm run test:full` takes some scenarios and some places of each, which rotate.
 */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { verify } from '../../src/domain/verify/verify.ts';
import { LIST_PLACES } from '../../src/kernel/faults/crash.ts';
import { openDatabase } from '../../src/store/db.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { parsePlaces } from '../support/crash-places.ts';
import { byLevel, ROTATION, rotate } from '../support/runs.ts';
import { type Environment, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { EFFECTS } from './kill-effects.ts';

export interface KillScenario<Context> {
  /** `EFFECTS` has the driver calls, and the tables of commits, that must be among its places. */
  readonly name: keyof typeof EFFECTS;
  /** May die with the process at any point. */
  run(context: Context): Promise<void>;
  /** Repeats what a client would repeat, and asserts that everything happened once. */
  finish(context: Context, place: string): Promise<void>;
}

export interface KillWorld<Context> {
  /** Contains `base`, the data folder that every run starts from. */
  readonly folder: string;
  settings(name: string): Environment;
  createContext(serving: SkerrydProcess, name: string): Context;
}

const PLACES_PER_SCENARIO = byLevel({ sample: 1, full: 2, soak: Infinity });
/** Every scenario has more: a shorter list means that the listing failed. */
const PLACES_MIN = 8;
/** How many of the next places may stand in for a place that a run does not reach. */
const SUBSTITUTES_MAX = 3;
/** Background work reaches places that the requests did not wait for. */
const REACH_TIMEOUT_MS = 10_000;

/** A third of the scenarios at a time, rotating, in `npm run test:full`. */
export function scenariosOfRun<Scenario>(all: readonly Scenario[]): readonly Scenario[] {
  return rotate(all, { sample: 1, full: 3, soak: 1 });
}

export async function testKillPlaces<Context>(
  t: TestContext,
  world: KillWorld<Context>,
  scenario: KillScenario<Context>,
): Promise<void> {
  const places = await listPlaces(world, scenario);
  const chosen = choose(places);
  t.diagnostic(`${scenario.name}: ${chosen.length} of ${places.length} places, rotation ${ROTATION}`);
  assertComplete(scenario, places);
  const tried = new Set<string>();
  let kills = 0;
  for (const first of chosen) {
    const from = places.indexOf(first);
    const candidates = [...places.slice(from), ...places.slice(0, from)].filter((each) => !tried.has(each));
    for (const place of candidates.slice(0, 1 + SUBSTITUTES_MAX)) {
      tried.add(place);
      let isKilled = false;
      await t.test(`${scenario.name}, killed ${place}`, async (kill) => {
        isKilled = await killAt(world, scenario, place);
        if (!isKilled) kill.diagnostic('not reached: two effects were one this time');
      });
      if (isKilled) kills += 1;
      if (isKilled) break;
    }
  }
  // Where every place is chosen, none is left to stand in for another.
  const killsMin = chosen.length < places.length ? chosen.length : chosen.length / 2;
  assert.ok(kills >= killsMin, `${kills} of ${chosen.length} processes were killed`);
}

function assertComplete({ name }: Pick<KillScenario<never>, 'name'>, places: readonly string[]): void {
  const effects: readonly string[] = EFFECTS[name];
  assert.ok(
    places.length >= Math.max(PLACES_MIN, 2 * effects.length),
    `only ${places.length} places: ${places.join('; ')}`,
  );
  // A call of a chain driver is named after its coin.
  const reached = places.map((place) => place.split(' ')[1]?.replace(/^[A-Z]+\./, 'chain.') ?? '');
  const names = new Set(
    reached.flatMap((effect) => /^commit\((.*)\)$/.exec(effect)?.[1]?.split(',') ?? effect),
  );
  assert.deepEqual(
    effects.filter((effect) => !names.has(effect)),
    [],
    `effects are missing in: ${places.join('; ')}`,
  );
}

/** Spreads the chosen places over the whole scenario. A soak takes one part of them, such as 2/4, or all. */
function choose(places: readonly string[]): readonly string[] {
  const [part = 1, parts = 1] = (process.env.SKERRY_TEST_PART ?? '1/1').split('/').map(Number);
  if (PLACES_PER_SCENARIO === Infinity) return places.filter((_, index) => index % parts === part - 1);
  const step = Math.max(places.length / PLACES_PER_SCENARIO, 1);
  const chosen = places.filter((_, index) => (index + ROTATION) % step < 1);
  assert.equal(chosen.length, Math.min(places.length, PLACES_PER_SCENARIO));
  return chosen;
}

/** Returns whether the process reached the place. The assertions must hold in both cases. */
async function killAt<Context>(
  world: KillWorld<Context>,
  scenario: KillScenario<Context>,
  place: string,
): Promise<boolean> {
  const name = await copyBase(world, scenario.name);
  const armed = await startSkerryd({ ...world.settings(name), SKERRY_CRASH_AT: place });
  const failure = await scenario.run(world.createContext(armed, name)).then(
    () => null,
    (error: unknown) => error,
  );
  const late = setTimeout(() => process.kill(armed.pid, 'SIGTERM'), REACH_TIMEOUT_MS);
  const { signal, code, stderr } = await armed.ended;
  clearTimeout(late);
  assert.ok(signal === 'SIGKILL' || code === 0, stderr);
  // Only the kill may make the scenario fail.
  if (signal !== 'SIGKILL' && failure !== null) throw failure;
  await finish(world, scenario, { name, place });
  return signal === 'SIGKILL';
}

async function finish<Context>(
  world: KillWorld<Context>,
  scenario: KillScenario<Context>,
  { name, place }: { readonly name: string; readonly place: string },
): Promise<void> {
  const serving = await startSkerryd(world.settings(name));
  try {
    await scenario.finish(world.createContext(serving, name), place);
    await assertVerified(join(world.folder, name));
  } finally {
    assert.equal((await serving.stop()).code, 0);
    await rm(join(world.folder, name), { recursive: true, force: true });
  }
}

/** As `skerryd verify` does, whose start would take a fifth of the time of a kill. */
async function assertVerified(dataDir: string): Promise<void> {
  const connection = await findEmbedded({ dataDir });
  assert.ok(connection, 'the service runs its database');
  const db = openDatabase(connection, { poolSize: 1 });
  try {
    const results = await verify({ db });
    const broken = results.filter((result) => result.broken > 0n);
    assert.deepEqual(
      broken.map(({ invariant, examples }) => `${invariant.name}: ${examples.join(', ')}`),
      [],
    );
  } finally {
    await db.close();
  }
}

/** Runs the scenario without a kill, and returns the places that it reaches after the start. */
async function listPlaces<Context>(
  world: KillWorld<Context>,
  scenario: KillScenario<Context>,
): Promise<readonly string[]> {
  const name = await copyBase(world, scenario.name);
  const listing = await startSkerryd({ ...world.settings(name), SKERRY_CRASH_AT: LIST_PLACES });
  await scenario.run(world.createContext(listing, name));
  const { signal, stdout, stderr } = await listing.stop('SIGKILL');
  assert.equal(signal, 'SIGKILL', `the listing process ended early: ${stderr}`);
  await finish(world, scenario, { name, place: 'nowhere' });
  const [, reached = ''] = stdout.split(/^skerry ready on .*$/m);
  return parsePlaces(reached);
}

let copies = 0;
async function copyBase({ folder }: { readonly folder: string }, name: string): Promise<string> {
  copies += 1;
  const copy = `${name.replaceAll(' ', '-')}-${copies}`;
  await cp(join(folder, 'base'), join(folder, copy), { recursive: true, preserveTimestamps: true });
  return copy;
}
