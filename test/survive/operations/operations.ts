/** The work of each operation. */
import { look, signUp } from './accounts.ts';
import type { Acting } from './acting.ts';
import { topUp, topUpByForm } from './money.ts';
import type { OperationName } from './names.ts';
import { deleteServer, deploy, deployByForm, power, rebuild, rename } from './servers.ts';
import * as storage from './storage.ts';

export const OPERATIONS: Readonly<Record<OperationName, (acting: Acting) => Promise<void>>> = {
  'sign up': signUp,
  'top up': topUp,
  'top up by form': topUpByForm,
  deploy,
  'deploy by form': deployByForm,
  'delete server': deleteServer,
  start: (acting) => power(acting, 'start'),
  stop: (acting) => power(acting, 'stop'),
  reboot: (acting) => power(acting, 'reboot'),
  rebuild,
  rename,
  'create volume': storage.createVolume,
  'create volume on the panel': storage.createVolumeOnPanel,
  'grow volume': storage.growVolume,
  attach: storage.attach,
  detach: storage.detach,
  'delete volume': storage.deleteVolume,
  'create snapshot': storage.createSnapshot,
  restore: storage.restore,
  'delete snapshot': storage.deleteSnapshot,
  look,
};
