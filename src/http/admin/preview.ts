/** The difference that a form of the catalog would make, shown before it is sent for good. */
import type { CataloguePreview } from '../../domain/catalogue/edit.ts';
import { counted } from '../../panel/staff/parts.ts';
import { PREVIEW_BUTTON, type RoomPreview } from '../../panel/staff/room-form.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import type { Form } from '../form.ts';
import type { ConsoleContext, FormAgain } from './page.ts';
import { readBody } from './schema-form.ts';

/** Null without the button: the form is to be performed. */
export function previewButton(operation: StaffOperation) {
  return async (form: Form, { params, read }: Pick<ConsoleContext, 'params' | 'read'>) => {
    if (!form.has(PREVIEW_BUTTON)) return null;
    const { preview: _, ...change } = readBody(operation, form) as { readonly preview?: string };
    const asked = { operation, ...(params.id !== undefined && { id: params.id }), change };
    const found = await read<CataloguePreview>('catalogue.preview', {}, {}, asked);
    return { again: form, preview: { form: operation, ...shown(found) } } satisfies FormAgain;
  };
}

function shown({ lines, servers, customers, effects, code }: CataloguePreview): RoomPreview {
  const whom = `Concerned: ${counted(servers, 'server')} of ${counted(customers, 'customer')}.`;
  return { lines, notes: [whom, ...effects], code };
}
