/**
 * The bytes of a connection as the system hands them over and takes them, without the streams that Node puts around a
 * socket: their buffers, events and ticks cost up to a sixteenth of a small request, and their order and patience is what a
 * connection has anyway. Sockets are entered where streams enter them, by the methods made for that.
 */
import type { Socket } from 'node:net'

export interface Wire {
  /** From now on `take` is given all bytes that arrive, and returns whether it wants more for now. */
  open(take: (bytes: Buffer) => boolean): void
  /** Text has one character for each byte. `sent` follows when the system has taken it all; never if it does not. */
  send(pieces: readonly Piece[], sent: () => void): void
  /** Wants bytes again, after `take` has wanted none. */
  receive(): void
}

export type Piece = string | Buffer

export function wireOf(socket: Socket): Wire {
  return { open, send, receive }

  function open(take: (bytes: Buffer) => boolean): void {
    const { push } = socket
    socket.push = (bytes: Buffer | null) => (bytes === null ? push.call(socket, bytes) : take(bytes))
    // Some may have come already, as behind the greetings of TLS.
    for (let early = next(); early !== null; early = next()) take(early)
    // Else the stream would not say that it has ended.
    socket.resume()
  }

  function next(): Buffer | null {
    return socket.read() as Buffer | null
  }

  function send(pieces: readonly Piece[], sent: () => void): void {
    const [first] = pieces
    if (pieces.length === 1 && typeof first === 'string') socket._write(first, 'latin1', done)
    else socket._writev?.(pieces.map(chunkOf), done)

    function done(error?: Error | null): void {
      if (error) socket.destroy()
      else if (!socket.destroyed) sent()
    }
  }

  function receive(): void {
    if (!socket.destroyed) socket._read(0)
  }
}

function chunkOf(chunk: Piece): { chunk: Piece; encoding: BufferEncoding } {
  // What streams call the bytes of a Buffer; the types know of text only.
  return { chunk, encoding: typeof chunk === 'string' ? 'latin1' : ('buffer' as BufferEncoding) }
}
