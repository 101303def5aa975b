import type { Socket } from 'node:net'

/** Cuts a connection: with a reset, or under TLS, where Node.js can't send one, without a closing alert. */
export function cutOff(socket: Socket | null): void {
  if (!socket) return
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
