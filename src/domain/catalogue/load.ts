/**
 * Loading a catalogue file. The file says what is offered from now on: what it names is added or changed, what it
 * leaves out is retired, never deleted, for servers and invoices refer to it. Prices of servers that exist stay
 * as they were ordered. What a plan's servers are made of cannot change under them.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  countServersOfPlan,
  listOfficialImages,
  listPlans,
  listRegions,
  lockCatalogue,
  saveOfficialImage,
  savePlan,
  saveRegion,
} from '../../store/catalogue.ts';
import type { Service } from '../context.ts';
import type { RegisterHosts } from '../inventory/hosts.ts';
import { recordAudit, systemActor } from '../record.ts';
import { type Catalogue, desiredCatalogue } from './desired.ts';
import { type CatalogueDiff, diffCatalogue, formatCatalogueDiff } from './diff.ts';
import type { CatalogueFile } from './file-schema.ts';
import { parseCatalogue } from './parse.ts';
import { createStock, findMissingStock, formatStock, type NewStock, registerStock } from './stock.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

/** The difference between a file and the database, as lines; none when there is no difference. Changes nothing. */
export async function compareCatalogue(
  service: Deps,
  text: string,
  options: { readonly sandbox: boolean },
): Promise<string[]> {
  const file = parseCatalogue(text, options);
  return (await planUpdate(service.db, file, service.clock.now())).lines;
}

export interface LoadOptions {
  /** Whether the file may use what only a sandbox has. */
  readonly sandbox: boolean;
  readonly register: RegisterHosts;
  /** The lines that the operator agreed to: another difference is refused. */
  readonly confirmedLines?: readonly string[];
  /** False: without the inventory that the file lists. */
  readonly withStock?: boolean;
  /** Loads nothing when there is a catalogue already. */
  readonly onlyWhenEmpty?: boolean;
}

/** Makes the database say what the file says; returns the lines of what changed. */
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
        'the catalogue changed in the meantime: run the command again to see the difference',
      );
    }
    await applyUpdate(tx, update, now);
    return update.lines;
  });
}

interface CatalogueUpdate {
  readonly difference: CatalogueDiff;
  readonly stock: NewStock;
  readonly lines: string[];
}

async function planUpdate(tx: Sql, file: CatalogueFile, now: Date): Promise<CatalogueUpdate> {
  const stored: Catalogue = {
    regions: await listRegions(tx),
    plans: await listPlans(tx),
    images: await listOfficialImages(tx),
  };
  const wanted = desiredCatalogue(file, stored, now);
  refuseDuplicateCodes(stored, wanted);
  const difference = diffCatalogue(stored, wanted);
  for (const change of difference.plans) {
    if (change.before) await refuseHardwareChange(tx, change.before, change.after);
  }
  const stock = await findMissingStock(tx, file);
  return { difference, stock, lines: [...formatCatalogueDiff(difference), ...formatStock(stock)] };
}

async function applyUpdate(tx: Sql, { difference, stock, lines }: CatalogueUpdate, now: Date): Promise<void> {
  if (lines.length === 0) return;
  for (const { after } of difference.regions) await saveRegion(tx, after);
  for (const { after } of difference.plans) await savePlan(tx, after);
  for (const { after } of difference.images) await saveOfficialImage(tx, after);
  await createStock(tx, stock, now);
  await recordAudit(tx, { actor: systemActor(now), action: 'catalogue.load', resource: null }, now);
}

type Plan = Catalogue['plans'][number];

async function refuseHardwareChange(tx: Sql, before: Plan, after: Plan): Promise<void> {
  const fixed = (['category', 'cpu', 'ram_mb', 'disk_gb'] as const).filter(
    (field) => before[field] !== after[field],
  );
  const servers = fixed.length > 0 ? await countServersOfPlan(tx, before.id) : 0n;
  if (servers > 0n) {
    throw new OperatorError(
      `plan ${before.id} has ${servers} servers, so its ${fixed.join(', ')} cannot change: add a plan with another id`,
    );
  }
}

/** A region that is gone keeps its session code: old records are read by it. */
function refuseDuplicateCodes(stored: Catalogue, wanted: Catalogue): void {
  for (const region of wanted.regions) {
    const other = stored.regions.find(
      (known) => known.session_code === region.session_code && known.id !== region.id,
    );
    if (other) {
      throw new OperatorError(
        `region ${region.id}: the session code ${region.session_code} belongs to ${other.id}`,
      );
    }
  }
}
