const CODE = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Returns a plan's or region's code as typed; undefined if malformed. */
export function readCode(text: string): string | undefined {
  return CODE.test(text) ? text : undefined;
}
