/**
 * Changes one entry of the catalog. The stored catalog is edited as a file, so that the rules of catalog
 * files decide, and a file that is exported afterwards changes nothing.
 */
import { createHash } from 'node:crypto';
import { invalidRequest } from '../../kernel/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { countUsers, lockCatalogue } from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import type { Catalogue } from './diff.ts';
import { readCatalogue, toFile } from './export.ts';
import type { CatalogueFile, CatalogueProblem } from './file-schema.ts';
import { type CatalogueUpdate, planUpdate, saveDifference } from './load.ts';
import { checkCatalogue, formatProblem, shapeProblems } from './parse.ts';

export type CatalogueKind = 'regions' | 'plans' | 'images';

/** Of the database: an id. */
export interface EntryName {
  readonly kind: CatalogueKind;
  readonly id: string;
}

export interface CatalogueEdit {
  readonly audits: Action;
  /** The public id of the entry, for the audit log. */
  readonly resource: string;
  /** The entry in the database. Null: it is new. */
  readonly entry: EntryName | null;
  /** Whether its servers notice, in sentences for the person who decides. */
  readonly effects: readonly string[];
  /** Returns the edited file, and the place of the entry in it; null: it is no longer there. */
  readonly apply: (
    file: CatalogueFile,
    stored: Catalogue,
  ) => { readonly file: CatalogueFile; readonly at: readonly [CatalogueKind, number] | null };
}

export interface CataloguePreview {
  readonly object: 'catalogue_preview';
  /** The difference, as `catalogue load` prints it. Empty: nothing changes. */
  readonly lines: readonly string[];
  /** The servers that have the plan or the image, or are in the region, and their customers. */
  readonly servers: number;
  readonly customers: number;
  readonly effects: readonly string[];
  /** Identifies this difference. */
  readonly code: string;
}

type Deps = Pick<Service, 'db' | 'clock'>;

/** Changes nothing. Fails like the edit. */
export async function previewEdit({ db, clock }: Deps, edit: CatalogueEdit): Promise<CataloguePreview> {
  const { lines } = await planEdit(db, edit, clock.now());
  const users = edit.entry ? await countUsers(db, edit.entry) : { servers: 0n, customers: 0n };
  return {
    object: 'catalogue_preview',
    lines,
    servers: Number(users.servers),
    customers: Number(users.customers),
    effects: edit.effects,
    code: codeOf(lines),
  };
}

/**
 * Fails with `invalid_request` for a field of the entry, and with an OperatorError otherwise. `seen` is the
 * code of a preview: another difference is refused.
 */
export async function applyEdit({ db, clock }: Deps, edit: CatalogueEdit, seen?: string): Promise<void> {
  const now = clock.now();
  await db.transaction(async (tx) => {
    await lockCatalogue(tx);
    const { lines, difference } = await planEdit(tx, edit, now);
    if (seen !== undefined && seen !== codeOf(lines)) {
      throw new OperatorError('this changes something else than the preview: look at the preview again');
    }
    if (lines.length === 0) throw new OperatorError('nothing to change: the catalog is like this already');
    await saveDifference(tx, difference);
    await recordAudit(tx, { actor: systemActor(now), action: edit.audits, resource: edit.resource }, now);
  });
}

async function planEdit(tx: Sql, edit: CatalogueEdit, now: Date): Promise<CatalogueUpdate> {
  const stored = await readCatalogue(tx);
  const before = toFile(stored);
  const { file, at } = edit.apply(before, stored);
  const problem = newProblem(before, file);
  if (problem) refuse(problem, at);
  return await planUpdate(tx, file, now);
}

/**
 * Returns the first problem that the edit adds: of the shape, and then of the rules. A new service has no
 * plans and no images yet, which is no problem of this entry.
 */
function newProblem(before: CatalogueFile, after: CatalogueFile): CatalogueProblem | undefined {
  const rules = (file: CatalogueFile) => checkCatalogue(file, { sandbox: false });
  return (
    addedProblem(shapeProblems(before), shapeProblems(after)) ?? addedProblem(rules(before), rules(after))
  );
}

function addedProblem(
  before: readonly CatalogueProblem[],
  after: readonly CatalogueProblem[],
): CatalogueProblem | undefined {
  const known = new Set(before.map(formatProblem));
  return after.find((each) => !known.has(formatProblem(each)));
}

function refuse(problem: CatalogueProblem, at: readonly [CatalogueKind, number] | null): never {
  const [kind, index, field, ...rest] = problem.path;
  if (at === null || kind !== at[0] || index !== at[1] || typeof field !== 'string') {
    throw new OperatorError(formatProblem(problem));
  }
  const issue = rest.length > 0 ? 'invalid_value' : 'invalid_format';
  invalidRequest([{ field, issue }], `${field}: ${problem.message}.`);
}

function codeOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}
