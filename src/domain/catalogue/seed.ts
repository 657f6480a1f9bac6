/** Loads the sandbox's first catalog, so that a fresh clone has something to sell. */
import { readFileSync } from 'node:fs';
import { listRegions } from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';
import type { RegisterHosts } from '../inventory/hosts.ts';
import { loadCatalogue } from './load.ts';

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
