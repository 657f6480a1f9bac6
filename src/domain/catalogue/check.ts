/** Checks rules across the parts of a catalog file, and rules that a pattern cannot express. */
import { parseUnits } from '../../kernel/money.ts';
import { parseRfc3339 } from '../../kernel/time.ts';
import { blockProblem } from '../inventory/blocks.ts';
import type { CatalogueFile, CatalogueProblem, FilePath } from './file-schema.ts';

export function checkCatalogue(
  file: CatalogueFile,
  options: { readonly sandbox: boolean },
): CatalogueProblem[] {
  const regions = new Set(file.regions.map((region) => region.id));
  return [
    ...findDuplicates(file.regions, 'regions', 'id', (region) => region.id),
    ...findDuplicates(file.regions, 'regions', 'session_code', (region) => region.session_code),
    ...findDuplicates(file.plans, 'plans', 'id', (plan) => plan.id),
    ...findDuplicates(file.images, 'images', 'version', imageKey),
    ...file.plans.flatMap((plan, index) => planProblems(plan, ['plans', index], regions)),
    ...file.images.flatMap((image, index) => imageProblems(image, ['images', index], options)),
    ...inventoryProblems(file, regions),
  ];
}

/** Returns the identity of an image. */
export function imageKey(image: {
  readonly family: string;
  readonly version: string;
  readonly variant?: string | null;
}): string {
  return [image.family, image.version, image.variant ?? ''].join(' ').trim();
}

function planProblems(
  plan: CatalogueFile['plans'][number],
  path: FilePath,
  regions: Set<string>,
): CatalogueProblem[] {
  const price = parseUnits(plan.price_usd_month, 2);
  return [
    ...(price === 0n ? [{ path: [...path, 'price_usd_month'], message: 'the price must be above 0' }] : []),
    ...plan.regions.flatMap((id, index) => unknownRegion(id, [...path, 'regions', index], regions)),
    ...findDuplicates(plan.regions, [...path, 'regions'], undefined, (id) => id),
  ];
}

function imageProblems(
  image: CatalogueFile['images'][number],
  path: FilePath,
  options: { readonly sandbox: boolean },
): CatalogueProblem[] {
  const problems: CatalogueProblem[] = [];
  if (image.family === 'custom') {
    problems.push({ path: [...path, 'family'], message: 'custom is reserved for uploaded images' });
  }
  for (const key of ['released_at', 'deprecated_at'] as const) {
    const date = image[key];
    if (date && !parseRfc3339(`${date}T00:00:00Z`)) {
      problems.push({ path: [...path, key], message: 'this date does not exist' });
    }
  }
  if (image.deprecated_days_ago !== undefined) {
    const key = [...path, 'deprecated_days_ago'];
    if (!options.sandbox) problems.push({ path: key, message: 'sandbox only; use deprecated_at' });
    if (image.deprecated_at) problems.push({ path: key, message: 'use this or deprecated_at, not both' });
  }
  return problems;
}

function inventoryProblems(file: CatalogueFile, regions: Set<string>): CatalogueProblem[] {
  const { hosts = [], machines = [], ip_blocks: blocks = [] } = file.inventory ?? {};
  const dedicated = new Set(
    file.plans.filter((plan) => plan.category === 'dedicated').map((plan) => plan.id),
  );
  const at = (part: string, index: number, key: string) => ['inventory', part, index, key];
  return [
    ...findDuplicates(hosts, ['inventory', 'hosts'], 'name', (host) => host.name),
    ...findDuplicates(machines, ['inventory', 'machines'], 'prefix', (entry) => entry.prefix),
    ...hosts.flatMap((host, index) => unknownRegion(host.region, at('hosts', index, 'region'), regions)),
    ...machines.flatMap((entry, index) => [
      ...unknownRegion(entry.region, at('machines', index, 'region'), regions),
      ...(dedicated.has(entry.plan)
        ? []
        : [{ path: at('machines', index, 'plan'), message: 'no dedicated plan in this file has this id' }]),
    ]),
    ...blocks.flatMap((entry, index) => {
      const message = blockProblem({ block: entry.block, gateway: entry.gateway ?? null });
      const problems = message === undefined ? [] : [{ path: at('ip_blocks', index, 'block'), message }];
      return [...problems, ...unknownRegion(entry.region, at('ip_blocks', index, 'region'), regions)];
    }),
  ];
}

function unknownRegion(id: string, path: FilePath, regions: Set<string>): CatalogueProblem[] {
  return regions.has(id) ? [] : [{ path, message: `region ${id} is not in this file` }];
}

/** Returns entries whose key already appeared. */
function findDuplicates<Entry>(
  entries: readonly Entry[],
  part: string | FilePath,
  key: string | undefined,
  keyOf: (entry: Entry) => string,
): CatalogueProblem[] {
  const keys = entries.map(keyOf);
  const path = typeof part === 'string' ? [part] : part;
  return keys.flatMap((value, index) =>
    keys.indexOf(value) === index
      ? []
      : [{ path: [...path, index, ...(key === undefined ? [] : [key])], message: `${value} is a duplicate` }],
  );
}
