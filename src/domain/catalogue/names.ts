import { catalogueNames as readNames } from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';

/** Region names by code, and plan ids, for selection lists. */
export interface CatalogueNames {
  readonly regions: Readonly<Record<string, string>>;
  readonly plans: readonly string[];
}

export async function listCatalogueNames(service: Pick<Service, 'reads'>): Promise<CatalogueNames> {
  return await readNames(service.reads);
}
