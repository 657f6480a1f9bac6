/** The shape of the double-click test cases, one per form. */
import type { FormInput, PanelClient } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import type { World } from '../../support/world.ts';
import type { Estate } from './world.ts';

/** The customer who clicks, and their resources. */
export interface Clicker {
  readonly world: World;
  readonly session: SessionClient;
  readonly panel: PanelClient;
  readonly estate: Estate;
}

export interface Click {
  /** Path and form name, as in PANEL_PAGES. */
  readonly form: readonly [page: string, name: string];
  /** The action that the audit log must contain once; null if nothing changes or nothing is audited. */
  readonly once: string | null;
  /** The page with the form, if it differs from the form's own path. */
  readonly at?: (estate: Estate) => string;
  /** The path that the form's button submits to. */
  readonly action?: string;
  /** Sets up the state that the form needs. */
  readonly prepare?: (clicker: Clicker) => Promise<void>;
  readonly fields?: FormInput | ((clicker: Clicker) => FormInput | Promise<FormInput>);
  /** The name of the button to press, if the form has several; its value is the first on the page. */
  readonly button?: string;
  readonly key?: (clicker: Clicker) => string;
  /** Runs as a new customer, or as a visitor who is not signed in. */
  readonly who?: 'fresh' | 'stranger';
  /** Fast, and needs no estate. */
  readonly plain?: true;
  /** Each click leads to a different page. */
  readonly apart?: true;
}

/** Returns a page of the running server. */
export const running = ({ running: id }: Estate, part = '') => `/servers/${id}${part}`;
