/** What a row about a form says that is clicked twice. */
import type { FormInput, PanelClient } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import type { World } from '../../support/world.ts';
import type { Estate } from './world.ts';

/** Who clicks, and what there is for him to click on. */
export interface Clicker {
  readonly world: World;
  readonly session: SessionClient;
  readonly panel: PanelClient;
  readonly estate: Estate;
}

export interface Click {
  /** As in PANEL_PAGES: path and name of the form. */
  readonly form: readonly [page: string, name: string];
  /** What the audit log says once; null: it changes nothing, or is not audited. */
  readonly once: string | null;
  /** Where the form stands; the page's own path when left out. */
  readonly at?: (estate: Estate) => string;
  /** Where its button sends it. */
  readonly action?: string;
  /** What has to be so before the page is opened. */
  readonly prepare?: (clicker: Clicker) => Promise<void>;
  readonly fields?: FormInput | ((clicker: Clicker) => FormInput | Promise<FormInput>);
  /** The button that is pressed, where a form has several: its name; its value is the first on the page. */
  readonly button?: string;
  readonly key?: (clicker: Clicker) => string;
  /** By a customer of its own, or by somebody who is not signed in. */
  readonly who?: 'fresh' | 'stranger';
  /** It needs no estate, and little time. */
  readonly plain?: true;
  /** Each click leads to a place of its own. */
  readonly apart?: true;
}

/** A page of the running server. */
export const running = ({ running: id }: Estate, part = '') => `/servers/${id}${part}`;
