/**
 * Loads a catalog file. The file defines what is offered from now on. Listed entries are added or changed.
 * Others are retired, never deleted, because servers and invoices refer to them. Existing servers keep the
 * price of their order. The hardware of a plan with servers cannot change.
 */

import { readFileSync } from 'node:fs';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  countServersOfPlan,
  listRegions,
  lockCatalogue,
  saveOfficialImage,
  savePlan,
  saveRegion,
} from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';
import type { RegisterHosts } from '../inventory/hosts.ts';
import { recordAudit, systemActor } from '../record.ts';
import {
  type Catalogue,
  type CatalogueDiff,
  desiredCatalogue,
  diffCatalogue,
  formatCatalogueDiff,
} from './diff.ts';
import { readCatalogue } from './export.ts';
import type { CatalogueFile } from './file-schema.ts';
import { parseCatalogue } from './parse.ts';
import { createStock, findMissingStock, formatStock, type NewStock, registerStock } from './stock.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

/** Returns the differences between a file and the database as lines. Changes nothing. */
export async function compareCatalogue(
  service: Deps,
  text: string,
  options: { readonly sandbox: boolean },
): Promise<string[]> {
  const file = parseCatalogue(text, options);
  return (await planUpdate(service.db, file, service.clock.now())).lines;
}

export interface LoadOptions {
  /** Whether sandbox-only features are allowed. */
  readonly sandbox: boolean;
  readonly register: RegisterHosts;
  /** The lines that the operator confirmed: any other difference fails. */
  readonly confirmedLines?: readonly string[];
  /** False skips the file's inventory. */
  readonly withStock?: boolean;
  /** Loads nothing if a catalog exists. */
  readonly onlyWhenEmpty?: boolean;
}

/** Applies a file to the database and returns the lines of the changes. */
export async function loadCatalogue(service: Deps, text: string, options: LoadOptions): Promise<string[]> {
  const { inventory, ...rest } = parseCatalogue(text, options);
  const file = options.withStock === false || !inventory ? rest : { ...rest, inventory };
  const now = service.clock.now();
  const { stock } = await planUpdate(service.db, file, now);
  await registerStock(stock, file, options.register);
  return await service.db.transaction(async (tx) => {
    await lockCatalogue(tx);
    if (options.onlyWhenEmpty && (await listRegions(tx)).length > 0) return [];
    const update = await planUpdate(tx, file, now);
    if (options.confirmedLines && options.confirmedLines.join('\n') !== update.lines.join('\n')) {
      throw new OperatorError(
        'the catalog changed in the meantime: run the command again to see the current difference',
      );
    }
    await applyUpdate(tx, update, now);
    return update.lines;
  });
}

export interface CatalogueUpdate {
  readonly difference: CatalogueDiff;
  readonly stock: NewStock;
  readonly lines: string[];
}

/** Compares a file that follows the rules with the database. */
export async function planUpdate(tx: Sql, file: CatalogueFile, now: Date): Promise<CatalogueUpdate> {
  const stored = await readCatalogue(tx);
  const wanted = desiredCatalogue(file, stored, now);
  requireUniqueCodes(stored, wanted);
  const difference = diffCatalogue(stored, wanted);
  for (const change of difference.plans) {
    if (change.before) await requireSameHardware(tx, change.before, change.after);
  }
  const stock = await findMissingStock(tx, file);
  return { difference, stock, lines: [...formatCatalogueDiff(difference), ...formatStock(stock)] };
}

async function applyUpdate(tx: Sql, { difference, stock, lines }: CatalogueUpdate, now: Date): Promise<void> {
  if (lines.length === 0) return;
  await saveDifference(tx, difference);
  await createStock(tx, stock, now);
  await recordAudit(tx, { actor: systemActor(now), action: 'catalogue.load', resource: null }, now);
}

export async function saveDifference(tx: Sql, difference: CatalogueDiff): Promise<void> {
  for (const { after } of difference.regions) await saveRegion(tx, after);
  for (const { after } of difference.plans) await savePlan(tx, after);
  for (const { after } of difference.images) await saveOfficialImage(tx, after);
}

type Plan = Catalogue['plans'][number];

async function requireSameHardware(tx: Sql, before: Plan, after: Plan): Promise<void> {
  const fixed = (['category', 'cpu', 'ram_mb', 'disk_gb'] as const).filter(
    (field) => before[field] !== after[field],
  );
  const servers = fixed.length > 0 ? await countServersOfPlan(tx, before.id) : 0n;
  if (servers > 0n) {
    throw new OperatorError(
      `plan ${before.id} has ${servers} servers, so ${fixed.join(', ')} cannot change: add a plan with ` +
        'another id',
    );
  }
}

/** A retired region keeps its session code, because old records refer to it. */
function requireUniqueCodes(stored: Catalogue, wanted: Catalogue): void {
  for (const region of wanted.regions) {
    const other = stored.regions.find(
      (known) => known.session_code === region.session_code && known.id !== region.id,
    );
    if (other) {
      throw new OperatorError(
        `region ${region.id}: region ${other.id} already uses the session code ${region.session_code}`,
      );
    }
  }
}

const SANDBOX_FILE = new URL('../../../catalogue/sandbox.yaml', import.meta.url);

/**
 * Loads `catalogue/sandbox.yaml` if there is no catalog. Safe to call from several processes at once. With
 * real machines (`register` is null), its hosts and addresses are left out, because they do not exist.
 */
export async function seedSandbox(
  service: Pick<Service, 'db' | 'clock'>,
  register: RegisterHosts | null,
): Promise<void> {
  if ((await listRegions(service.db)).length > 0) return;
  const text = readFileSync(SANDBOX_FILE, 'utf8');
  await loadCatalogue(service, text, {
    sandbox: true,
    register: register ?? (async () => undefined),
    withStock: register !== null,
    onlyWhenEmpty: true,
  });
}
