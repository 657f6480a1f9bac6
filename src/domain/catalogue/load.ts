/**
 * Loading a catalogue file. The file says what is offered from now on: what it names is added or changed, what it
 * leaves out is retired, never deleted, for servers and invoices refer to it. Prices of servers that exist stay
 * as they were ordered. What a plan's servers are made of cannot change under them.
 */
import { Refusal } from '../../kernel/refusal.ts';
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
import { type CatalogueDifference, catalogueDifference, catalogueLines } from './difference.ts';
import type { CatalogueFile } from './file.ts';
import { readCatalogue } from './read.ts';
import { missingStock, type NewStock, placeStock, registerStock, stockLines } from './stock.ts';
import { type Catalogue, wantedCatalogue } from './wanted.ts';

type Ground = Pick<Service, 'db' | 'clock'>;

/** The difference between a file and the database, as lines; none when there is no difference. Changes nothing. */
export async function compareCatalogue(
  service: Ground,
  text: string,
  options: { readonly sandbox: boolean },
): Promise<string[]> {
  const file = readCatalogue(text, options);
  return (await differenceFrom(service.db, file, service.clock.now())).lines;
}

export interface LoadOptions {
  /** Whether the file may use what only a sandbox has. */
  readonly sandbox: boolean;
  readonly register: RegisterHosts;
  /** The lines that the operator agreed to: another difference is refused. */
  readonly agreed?: readonly string[];
  /** False: without the inventory that the file lists. */
  readonly withStock?: boolean;
  /** Loads nothing when there is a catalogue already. */
  readonly onlyWhenEmpty?: boolean;
}

/** Makes the database say what the file says; returns the lines of what changed. */
export async function loadCatalogue(service: Ground, text: string, options: LoadOptions): Promise<string[]> {
  const { inventory, ...rest } = readCatalogue(text, options);
  const file = options.withStock === false || !inventory ? rest : { ...rest, inventory };
  const now = service.clock.now();
  const { stock } = await differenceFrom(service.db, file, now);
  await registerStock(stock, file, options.register);
  return await service.db.transaction(async (tx) => {
    await lockCatalogue(tx);
    if (options.onlyWhenEmpty && (await listRegions(tx)).length > 0) return [];
    const found = await differenceFrom(tx, file, now);
    if (options.agreed && options.agreed.join('\n') !== found.lines.join('\n')) {
      throw new Refusal('the catalogue changed in the meantime: run the command again to see the difference');
    }
    await write(tx, found, now);
    return found.lines;
  });
}

interface Found {
  readonly difference: CatalogueDifference;
  readonly stock: NewStock;
  readonly lines: string[];
}

async function differenceFrom(tx: Sql, file: CatalogueFile, now: Date): Promise<Found> {
  const stored: Catalogue = {
    regions: await listRegions(tx),
    plans: await listPlans(tx),
    images: await listOfficialImages(tx),
  };
  const wanted = wantedCatalogue(file, stored, now);
  refuseSharedCodes(stored, wanted);
  const difference = catalogueDifference(stored, wanted);
  for (const change of difference.plans) {
    if (change.before) await refuseOtherHardware(tx, change.before, change.after);
  }
  const stock = await missingStock(tx, file);
  return { difference, stock, lines: [...catalogueLines(difference), ...stockLines(stock)] };
}

async function write(tx: Sql, { difference, stock, lines }: Found, now: Date): Promise<void> {
  if (lines.length === 0) return;
  for (const { after } of difference.regions) await saveRegion(tx, after);
  for (const { after } of difference.plans) await savePlan(tx, after);
  for (const { after } of difference.images) await saveOfficialImage(tx, after);
  await placeStock(tx, stock, now);
  await recordAudit(tx, { actor: systemActor(now), action: 'catalogue.load', resource: null }, now);
}

type Plan = Catalogue['plans'][number];

async function refuseOtherHardware(tx: Sql, before: Plan, after: Plan): Promise<void> {
  const fixed = (['category', 'cpu', 'ram_mb', 'disk_gb'] as const).filter(
    (field) => before[field] !== after[field],
  );
  const servers = fixed.length > 0 ? await countServersOfPlan(tx, before.id) : 0n;
  if (servers > 0n) {
    throw new Refusal(
      `plan ${before.id} has ${servers} servers, so its ${fixed.join(', ')} cannot change: add a plan with another id`,
    );
  }
}

/** A region that is gone keeps its session code: old records are read by it. */
function refuseSharedCodes(stored: Catalogue, wanted: Catalogue): void {
  for (const region of wanted.regions) {
    const other = stored.regions.find(
      (known) => known.session_code === region.session_code && known.id !== region.id,
    );
    if (other) {
      throw new Refusal(
        `region ${region.id}: the session code ${region.session_code} belongs to ${other.id}`,
      );
    }
  }
}
