import { catalogueNames as readNames } from '../../store/catalogue.ts';
import type { Service } from '../context.ts';

/** Regions by their code with their names, and the codes of plans: for lists to choose from. */
export interface CatalogueNames {
  readonly regions: Readonly<Record<string, string>>;
  readonly plans: readonly string[];
}

export async function listCatalogueNames(service: Pick<Service, 'reads'>): Promise<CatalogueNames> {
  return await readNames(service.reads);
}
