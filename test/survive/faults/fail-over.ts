/** A cluster of PostgreSQL gets another primary. */
import { type Begin, nothingToRepair } from './breaking.ts';

export const failOver =
  (_way: 'switch' | 'kill'): Begin =>
  async () =>
    nothingToRepair;
