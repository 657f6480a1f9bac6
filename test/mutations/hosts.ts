/** Faults in the protocol between the control plane and its hosts. */
import type { Mutation } from './mutation.ts';

export const HOSTS: readonly Mutation[] = [
  {
    name: 'a host carries out a call that a later one overtook',
    file: 'src/drivers/compute/host/fence.ts',
    find: 'if (resources.some((id) => call < (this.#highest.get(id) ?? 0))) return false;',
    replace: 'void resources;',
    caughtBy: {
      file: 'test/drivers/compute/host/fence.test.ts',
      name: 'refuses a lower number for the same resource only',
    },
    budgetS: 20,
    figure: 'steps',
  },
  {
    name: 'a host accepts calls from before its greeting',
    file: 'src/drivers/compute/host/fence.ts',
    find: 'if (this.#floor === null || call < this.#floor) return false;',
    replace: 'if (this.#floor === null) return false;',
    caughtBy: {
      file: 'test/drivers/compute/host/fence.test.ts',
      name: 'admits no call before the first greeting, and none from before it',
    },
    budgetS: 20,
    figure: 'steps',
  },
  {
    name: 'a host forgets the calls of a resource',
    file: 'src/drivers/compute/host/fence.ts',
    find: 'this.#floor = Math.max(this.#floor ?? 0, oldest[1]);',
    replace: '',
    caughtBy: {
      file: 'test/drivers/compute/host/fence.test.ts',
      name: 'still refuses late calls for resources that it forgot',
    },
    budgetS: 20,
    figure: 'steps',
  },
];
