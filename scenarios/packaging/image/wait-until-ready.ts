import { existsSync, readFileSync } from 'node:fs'
import { get } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'

function isReady(port: number, ca: string) {
  return new Promise<boolean>(resolve => {
    const options = { ca: readFileSync(ca), servername: 'localhost' }
    get(`https://127.0.0.1:${port}/health/ready`, options, response => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}

/**
 * Returns true if the container responds over HTTPS within a minute, with a certificate of the authority that it created.
 * Returns false if it doesn't, or stops running.
 */
export async function waitUntilReady(port: number, ca: string, isRunning = () => true): Promise<boolean> {
  for (let i = 0; i < 240 && isRunning(); i++) {
    await delay(250)
    if (existsSync(ca) && (await isReady(port, ca))) return true
  }
  return false
}
