import { findRegionBySessionCode } from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';

/** Returns the region ID of the REST API for a region code of the session API; null if unknown. */
export async function regionIdBySessionCode(service: Service, code: string): Promise<string | null> {
  return (await findRegionBySessionCode(service.db, code))?.id ?? null;
}
