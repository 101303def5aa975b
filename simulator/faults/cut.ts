import type { Socket } from 'node:net'

/** Ends a connection in the middle: with a reset, or, under TLS where Node.js cannot send one, without a farewell. */
export function cutOff(socket: Socket | null): void {
  if (!socket) return
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
