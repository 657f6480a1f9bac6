/**
 * The deploy statement compared with plain statements in one transaction, alternating in one run. Each side
 * deploys into its own identical region, for its own customers.
 */
import { join } from 'node:path';
import { type OpenDatabase, openDatabase } from '../src/store/db.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { migrate } from '../src/store/migrate.ts';
import { insertDeploy } from '../src/store/servers/deploy.ts';
import { buildDeployRow, createDeployFixture, type DeployFixture } from './deploy-fixture.ts';
import { deployWithPlainStatements } from './deploy-plain.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 7;
const PER_ROUND = 480;

interface LoadShape {
  readonly name: string;
  readonly callers: number;
  readonly oneCustomer: boolean;
  readonly limit: number;
  readonly goal: number;
}

const LOAD_SHAPES: readonly LoadShape[] = [
  { name: '1 caller', callers: 1, oneCustomer: false, limit: 1.2, goal: 1.8 },
  { name: '16 callers', callers: 16, oneCustomer: false, limit: 1.0, goal: 1.4 },
  { name: '16 callers on one customer', callers: 16, oneCustomer: true, limit: 1.1, goal: 1.6 },
];

type DeployFunction = (
  db: OpenDatabase,
  row: ReturnType<typeof buildDeployRow>,
) => Promise<bigint | undefined>;

export async function benchDeploy(folder: string): Promise<Figure[]> {
  const database = await startEmbedded({ dataDir: join(folder, 'deploy') });
  const db = openDatabase(database.connection, { poolSize: 16 });
  try {
    await migrate(db);
    const fixture = await createDeployFixture(db, {
      addresses: LOAD_SHAPES.length * ROUNDS * PER_ROUND + 1_000,
    });
    const figures: Figure[] = [];
    for (const shape of LOAD_SHAPES) figures.push(await compare(db, fixture, shape));
    return figures;
  } finally {
    await db.close();
    await database.stop();
  }
}

async function compare(db: OpenDatabase, fixture: DeployFixture, shape: LoadShape): Promise<Figure> {
  const statement: DeployFunction = insertDeploy;
  const ratios: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    // Alternate the order, so that neither side always has the warmer cache.
    const order =
      round % 2 === 0 ? [statement, deployWithPlainStatements] : [deployWithPlainStatements, statement];
    const rates = new Map<DeployFunction, number>();
    for (const deploy of order)
      rates.set(deploy, await deploysPerSecond(db, fixture, shape, deploy, deploy === statement ? 0 : 1));
    const ratio = (rates.get(statement) ?? 0) / (rates.get(deployWithPlainStatements) ?? Number.NaN);
    if (round > 0) ratios.push(ratio);
  }
  const { limit, goal } = shape;
  return {
    name: `deploy statement ÷ plain statements, ${shape.name}`,
    value: median(ratios),
    unit: '×',
    limit,
    goal,
    bound: 'min',
  };
}

/** Returns deploys per second. */
async function deploysPerSecond(
  db: OpenDatabase,
  fixture: DeployFixture,
  shape: LoadShape,
  deploy: DeployFunction,
  region: 0 | 1,
): Promise<number> {
  let left = shape.callers === 1 ? PER_ROUND / 4 : PER_ROUND / 2;
  const count = left;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: shape.callers }, async (_, caller) => {
      while (left-- > 0) {
        const customer = fixture.customers[region * 16 + (shape.oneCustomer ? 0 : caller)];
        const done = await deployUntilPlaced(db, deploy, fixture, customer ?? '', region);
        if (done === undefined) throw new Error('the fixture is exhausted');
      }
    }),
  );
  return count / ((performance.now() - startedAt) / 1_000);
}

/** Retries after a lost race for a host or an address, which is part of the work on both sides. */
async function deployUntilPlaced(
  db: OpenDatabase,
  deploy: DeployFunction,
  fixture: DeployFixture,
  customer: string,
  region: 0 | 1,
) {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      return await deploy(db, buildDeployRow(fixture, customer, region));
    } catch (error) {
      if ((error as { code?: string }).code !== 'SK001') throw error;
    }
  }
  return undefined;
}
