/** Resizing a server. */
import { listResizeOptions } from '../../../domain/servers/resize/options.ts';
import { resizeView, shownPriceField } from '../../../panel/servers/resize.ts';
import { type Form, field } from '../../form.ts';
import { bodyReader, isChecked, number, text } from '../field-readers.ts';
import { page, restForm } from '../page-types.ts';
import { loadServer, redirectToServer, SERVER_PATH, type ServerContext } from './overview.ts';

/** Charges no more than the page shows for the selected plan. */
const shownPrice = (form: Form) => number(form, shownPriceField(field(form, 'plan')));

async function render(context: ServerContext) {
  const [page, options] = await Promise.all([
    loadServer(context),
    listResizeOptions(context.service, context.customer(), context.params.id),
  ]);
  return resizeView({ ...page, options, forms: context.forms });
}

export const SERVER_RESIZE_PAGE = page({
  path: `${SERVER_PATH}/resize`,
  access: 'customer',
  render,
  forms: {
    resize: restForm({
      operation: 'servers.resize',
      body: bodyReader({ plan: text, resize_disk: isChecked, restart: isChecked, max_price_usd: shownPrice }),
      done: redirectToServer('server_resizing'),
    }),
  },
});
