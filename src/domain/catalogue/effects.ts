/** The effects of an edit of the catalog on existing servers, for the person who decides. */
import type { CatalogueKind } from './edit.ts';

type Act = 'create' | 'change' | 'retire' | 'restore';

const RENEWED = 'Existing servers keep running and renew at their own price.';

export const EFFECTS: Readonly<Record<CatalogueKind, Readonly<Record<Act, readonly string[]>>>> = {
  plans: {
    create: ['Customers can order it at once, where a region has room.'],
    change: [
      'Existing servers keep their cores, memory, disk, price, and the price of their backups. A plan ' +
        'that has servers keeps its hardware: create a plan with another id instead.',
      'The traffic and the name of the CPU also change for existing servers. Tags count when they move.',
    ],
    retire: [RENEWED, 'New orders of the plan and resizes to it are refused.'],
    restore: ['Customers can order it again, in the regions that are open.'],
  },
  regions: {
    create: ['No plan is sold there yet: add the region to plans, and hosts and addresses to the region.'],
    change: ['Existing servers and volumes stay where they are. Storage counts for new ones.'],
    retire: [RENEWED, 'New orders and new volumes in the region are refused, and no plan is sold there.'],
    restore: ['Customers can order the plans that you name there at once.'],
  },
  images: {
    create: ['With real machines, customers see it once its disk is imported.'],
    change: ['Existing servers keep their disks.', 'A deprecated image is only for rebuilds, for 90 days.'],
    retire: ['Existing servers keep running. New orders and rebuilds with it are refused.'],
    restore: ['Customers can install it again.'],
  },
};
