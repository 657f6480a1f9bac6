/**
 * The deploy statement against the same work as plain statements in one transaction, interleaved in one run. Each
 * side deploys into regions of its own that look the same, for customers of its own.
 */
import { join } from 'node:path';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { insertDeploy } from '../src/store/deploy.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { deployPlainly } from './deploy-plain.ts';
import { type Figure, median } from './figure.ts';
import { type Ground, layGround, orderRow } from './ground.ts';

const ROUNDS = 7;
const PER_ROUND = 480;

interface Shape {
  readonly name: string;
  readonly callers: number;
  readonly oneCustomer: boolean;
  readonly heldTo: number;
  readonly goal: number;
}

const SHAPES: readonly Shape[] = [
  { name: '1 caller', callers: 1, oneCustomer: false, heldTo: 1.2, goal: 1.8 },
  { name: '16 callers', callers: 16, oneCustomer: false, heldTo: 1.0, goal: 1.4 },
  { name: '16 callers on one customer', callers: 16, oneCustomer: true, heldTo: 1.1, goal: 1.6 },
];

type Side = (db: OpenDatabase, row: ReturnType<typeof orderRow>) => Promise<bigint | undefined>;

export async function benchDeploy(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'deploy') });
  const db = openDatabase(database.connection, { poolSize: 16 });
  try {
    await migrate(db);
    const ground = await layGround(db, { addresses: SHAPES.length * ROUNDS * PER_ROUND + 1_000 });
    const figures: Figure[] = [];
    for (const shape of SHAPES) figures.push(await compare(db, ground, shape));
    return figures;
  } finally {
    await db.close();
    await database.stop();
  }
}

async function compare(db: OpenDatabase, ground: Ground, shape: Shape): Promise<Figure> {
  const statement: Side = insertDeploy;
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    // The order changes each round, so that neither side always finds the warmer cache.
    const sides = round % 2 === 0 ? [statement, deployPlainly] : [deployPlainly, statement];
    const perSecond = new Map<Side, number>();
    for (const side of sides)
      perSecond.set(side, await rate(db, ground, shape, side, side === statement ? 0 : 1));
    const ratio = (perSecond.get(statement) ?? 0) / (perSecond.get(deployPlainly) ?? Number.NaN);
    if (round > 0) ratios.push(ratio);
  }
  const { heldTo, goal } = shape;
  return {
    name: `deploy statement ÷ plain statements, ${shape.name}`,
    value: median(ratios),
    unit: '×',
    heldTo,
    goal,
    bound: 'min',
  };
}

/** Deploys a second. */
async function rate(
  db: OpenDatabase,
  ground: Ground,
  shape: Shape,
  side: Side,
  region: 0 | 1,
): Promise<number> {
  let left = shape.callers === 1 ? PER_ROUND / 4 : PER_ROUND / 2;
  const count = left;
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: shape.callers }, async (_, caller) => {
      while (left-- > 0) {
        const customer = ground.customers[region * 16 + (shape.oneCustomer ? 0 : caller)];
        const done = await deployUntilPlaced(db, side, ground, customer ?? '', region);
        if (done === undefined) throw new Error('the bench ran out of something');
      }
    }),
  );
  return count / ((performance.now() - begun) / 1_000);
}

/** A lost race for a place is part of the work on both sides. */
async function deployUntilPlaced(
  db: OpenDatabase,
  side: Side,
  ground: Ground,
  customer: string,
  region: 0 | 1,
) {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      return await side(db, orderRow(ground, customer, region));
    } catch (error) {
      if ((error as { code?: string }).code !== 'SK001') throw error;
    }
  }
  return undefined;
}
