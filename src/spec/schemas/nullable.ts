/** A field that may be null: nothing is left out of an answer, so clients need not ask whether it is there. */
import { type TSchema, Type } from 'typebox';

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
