import type { Socket } from 'node:net'

/** Cuts a connection with a reset. A TLS connection is closed without an alert instead, because Node.js can't reset it. */
export function cutOff(socket: Socket | null): void {
  if (!socket) return
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
