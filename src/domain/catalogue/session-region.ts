import { findRegionBySessionCode } from '../../store/catalogue.ts';
import type { Service } from '../context.ts';

/** The REST code of a region by its code on the session surface; null when there is none. */
export async function regionIdBySessionCode(service: Service, code: string): Promise<string | null> {
  return (await findRegionBySessionCode(service.db, code))?.id ?? null;
}
