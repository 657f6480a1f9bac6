/** Saving and deleting a filter of the server list. */
import { deleteFilter, type SavedFilter, saveFilter } from '../../../domain/customers/preferences.ts';
import { listPath } from '../../../panel/servers/bulk.ts';
import { savedQuery } from '../../../panel/servers/saved-filters.ts';
import { PANEL_FIELDS } from '../../../spec/paths.ts';
import { type Form, field, parseQuery } from '../../form.ts';
import { customForm } from '../page-types.ts';
import { readListState } from './list-state.ts';

const saveForm = customForm<SavedFilter>({
  audit: 'saved_filter.save',
  run: async ({ edge, form, customer }) => {
    const query = savedQuery(readListState(parseQuery(`?${field(form, 'query')}`)));
    return await saveFilter(edge.service, customer(), { name: field(form, 'name'), query });
  },
  done: ({ query }) => ({ to: listPath(readListState(parseQuery(`?${query}`))), notice: 'filter_saved' }),
});

const keyOf = (form: Form): string => field(form, PANEL_FIELDS.key);

const deleteForm = customForm({
  audit: 'saved_filter.delete',
  resource: keyOf,
  run: async ({ edge, form, customer }) => {
    await deleteFilter(edge.service, customer(), keyOf(form));
    return {};
  },
  done: () => ({ to: listPath({}), notice: 'filter_deleted' }),
});

export const SAVED_FILTER_FORMS = { save_filter: saveForm, delete_filter: deleteForm };
