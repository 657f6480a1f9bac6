/** The catalog: plans, regions, and official images. */
import { act, HOSTS, MONEY, OWNER, read } from './roles.ts';

export const CATALOGUE_OPERATIONS = {
  'catalogue.preview': read('catalogue load', 'Show what a change of the catalog would change'),
  'regions.list': read('catalogue show', 'List regions'),
  'regions.get': read('catalogue show', 'Show a region'),
  'regions.create': act('regions create', 'Add a region', HOSTS),
  'regions.change': act('regions change', 'Change a region', HOSTS),
  'regions.close': act('regions close', 'Refuse new orders in a region', HOSTS),
  'regions.open': act('regions open', 'Accept orders in a closed region', OWNER),
  'plans.list': read('plans list', 'List plans with their prices, and who pays them'),
  'plans.get': read('plans show', 'Show a plan, and what another price would change'),
  'plans.create': act('plans create', 'Add a plan', MONEY),
  'plans.change': act('plans change', 'Change a plan', MONEY),
  'plans.retire': act('plans retire', 'No longer sell a plan', MONEY),
  'plans.restore': act('plans restore', 'Sell a retired plan again', MONEY),
  'plans.set_price': act('plans set-price', 'Change what new orders of a plan cost', MONEY),
  'plans.announce_price': act('prices announce', 'Announce a price for existing servers', MONEY),
  'plans.cancel_price': act('prices cancel', 'Cancel an announced price', MONEY),
  'images.list': read('images list', 'List official images and their disks'),
  'images.get': read('images list', 'Show an official image'),
  'images.create': act('images create', 'Add an official image', HOSTS),
  'images.change': act('images change', 'Change or deprecate an official image', HOSTS),
  'images.retire': act('images retire', 'No longer offer an official image', HOSTS),
  'images.restore': act('images restore', 'Offer a retired official image again', HOSTS),
} as const;

/** The acts that edit one entry of the catalog. */
export const CATALOGUE_EDITS = [
  'plans.create',
  'plans.change',
  'plans.retire',
  'plans.restore',
  'regions.create',
  'regions.change',
  'regions.close',
  'regions.open',
  'images.create',
  'images.change',
  'images.retire',
  'images.restore',
] as const;
export type CatalogueEditOperation = (typeof CATALOGUE_EDITS)[number];
