/** The drive of a server for ISO images, and what it boots first. */
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { imageChoices } from '../resources/images.ts';
import { blockedReason, type ServerPage } from './layout.ts';

interface IsoData extends ServerPage {
  readonly images: readonly Image[];
  readonly forms: FormContext;
}

export function isoSection(data: IsoData): Html {
  const { server, capabilities } = data;
  if (!capabilities.customImages) return html`<p>This server’s hardware has no drive for ISO images.</p>`;
  return html`${driveText(data)}
${server.iso !== null && ejectAndBoot(data)}
${insertForm(data)}`;
}

function driveText({ server, images }: IsoData): Html {
  const { iso, boot } = server;
  if (iso === null) return html`<p>The drive is empty, and the server boots its disk.</p>`;
  const name = images.find(({ id }) => id === iso)?.name ?? iso;
  return html`<p><a href="${resourcePath(PANEL_PATHS.images, iso)}">${name}</a> is in the drive. The server
boots ${boot === 'iso' ? 'it' : 'its disk'} at the next restart.</p>`;
}

function ejectAndBoot(data: IsoData): Html {
  const { forms, server } = data;
  const blocked = blockedReason(data, 'set_boot');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const [next, label] = server.boot === 'iso' ? ['disk', 'Boot the disk'] : ['iso', 'Boot the ISO image'];
  const choice = html`<input type="hidden" name="boot" value="${next}">`;
  return html`${form(forms, { name: 'boot' }, html`${choice}<button class="plain">${label}</button>`)}
${form(forms, { name: 'eject_iso' }, html`<button class="plain">Eject ISO image</button>`)}`;
}

function insertForm(data: IsoData): Html {
  const { forms, server } = data;
  const own = data.images.filter(({ id, type }) => type === 'custom' && id !== server.iso);
  const upload = html`<a href="${PANEL_PATHS.images}">Upload an image</a>`;
  if (own.length === 0)
    return html`<p>You have no ${server.iso === null ? '' : 'other '}image to insert. ${upload}</p>`;
  const blocked = blockedReason(data, 'insert_iso');
  // With an image in the drive, the reason is above.
  if (blocked !== null) return server.iso === null ? html`<p>${blocked}</p>` : html``;
  const fields = new Fields(forms, 'insert_iso');
  return form(
    forms,
    { name: 'insert_iso', class: 'row' },
    html`${fields.select('iso', 'Your image', { choices: imageChoices(own) })}
<button>Insert ISO image</button>`,
  );
}
