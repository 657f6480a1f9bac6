const CODE = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** A plan's or region's code as a caller typed it; undefined when it can be none. */
export function readCode(text: string): string | undefined {
  return CODE.test(text) ? text : undefined;
}
