/** Reads a response body up to a limit, so that the server does not decide how much memory it takes. */

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** Returns the body as text. Throws BodyTooLargeError and closes the connection when it is larger. */
export async function readBoundedBody(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new BodyTooLargeError(`more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
