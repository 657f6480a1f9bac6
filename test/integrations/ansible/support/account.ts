/** A customer with a balance and one SSH key, and modules of the collection that use their token. */
import { NO_RATES, PUBLIC_KEY } from '../../../http/v1/contract/estate.ts';
import { createApiToken, V1Client } from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { type ModuleRunner, startModuleRunner } from './module-runner.ts';

export interface Account {
  readonly world: World;
  readonly api: V1Client;
  readonly token: string;
  readonly modules: ModuleRunner;
  close(): Promise<void>;
}

/** The options of a new server. The account has the key. */
export const WEB = { plan: 's1', region: 'par', image: 'debian-13', ssh_keys: ['laptop'] };

export async function startAccount(): Promise<Account> {
  const world = await startWorld(NO_RATES);
  const customer = await world.customer();
  await world.addBalance(customer, 9_000n);
  const token = await createApiToken(customer);
  const api = V1Client.forUrl(world.url, token);
  await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  const modules = await startModuleRunner({ SKERRY_API_URL: world.url, SKERRY_TOKEN: token });
  return {
    ...{ world, api, token, modules },
    close: async () => {
      await modules.stop();
      await world.close();
    },
  };
}
