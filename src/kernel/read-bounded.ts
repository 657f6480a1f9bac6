/** The body of an answer, up to a bound: whoever answers does not decide how much memory it takes. */

export class BodyTooLargeError extends Error {
  override readonly name = 'TooLong';
}

/** As text. Throws TooLong, and then the connection ends. */
export async function readBoundedBody(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection.
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
