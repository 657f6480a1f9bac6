/** Commands that edit the catalog, in an order that lets each succeed. */
import type { Action } from '../../src/spec/actions.ts';

export interface Change {
  readonly args: () => readonly string[];
  readonly audits: Action;
  /** Set if the row is in the customer's audit log; otherwise only the operator's has it. */
  readonly of?: 'customer';
}

export const CATALOGUE_CHANGES: Readonly<Record<string, Change>> = {
  'plans create': {
    args: () => [
      ...['s9', '--category', 'vps', '--cpu', '1', '--cpu-model', 'A CPU', '--ram-mb', '1024'],
      ...['--disk-gb', '10', '--transfer-tb', '1', '--usd-month', '9', '--regions', 'par,zrh', '--yes'],
    ],
    audits: 'plan.create',
  },
  'plans change': { args: () => ['s9', '--ram-mb', '2048', '--regions', 'par'], audits: 'plan.change' },
  'plans retire': { args: () => ['s9'], audits: 'plan.retire' },
  'plans restore': { args: () => ['s9'], audits: 'plan.restore' },
  'regions create': {
    args: () => [
      ...['osl', '--session-code', 'osl', '--name', 'Oslo'],
      ...['--country', 'NO', '--pop', 'OSL1'],
    ],
    audits: 'region.create',
  },
  'regions change': { args: () => ['osl', '--name', 'Oslo West'], audits: 'region.change' },
  'regions close': { args: () => ['osl'], audits: 'region.retire' },
  'regions open': { args: () => ['osl', '--plans', 's9'], audits: 'region.restore' },
  'images create': {
    args: () => [
      ...['plan9', '--os-version', '4', '--arch', 'amd64', '--size-gb', '1.5'],
      ...['--cloud-init', 'no', '--released', '2025-01-01'],
    ],
    audits: 'official_image.create',
  },
  'images change': { args: () => ['plan9-4', '--deprecated', '2026-01-01'], audits: 'official_image.change' },
  'images retire': { args: () => ['plan9-4'], audits: 'official_image.retire' },
  'images restore': { args: () => ['plan9-4'], audits: 'official_image.restore' },
};
