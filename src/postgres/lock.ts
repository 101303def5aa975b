import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { accessDenied } from './access-denied.ts'

const sqliteBusy = 5 // SQLITE_BUSY

// Keeps the database objects referenced, because a garbage-collected object releases its lock.
const heldLocks = new Set<DatabaseSync>()

/**
 * Makes this process the only owner of a directory. Returns a function that releases it; the end of the process releases it too. Throws if
 * another process owns it.
 *
 * Node.js has no file locks, but SQLite's write lock is one. The kernel grants it to one process and releases it when that process ends, even
 * by kill -9. So neither a stale file nor a reused process ID can look like an owner.
 * The kernel also drops the lock when this process closes any handle of the file, so nothing else can open `owner.lock`.
 */
export async function lockDirectory(directory: string): Promise<() => void> {
  const ownerFile = join(directory, 'owner.pid')
  const lock = openLock(directory)
  try {
    lock.exec('begin immediate')
    writeFileSync(ownerFile, `${process.pid}\n`)
  } catch (error) {
    lock.close()
    if ((error as { errcode?: number }).errcode !== sqliteBusy) throw accessDenied(directory, 'locked', error)
    throw new Error(`${directory} is in use by process ${await readOwner(ownerFile)}. Only one process can own it.`)
  }
  heldLocks.add(lock)
  return () => {
    if (heldLocks.delete(lock)) lock.close()
  }
}

function openLock(directory: string): DatabaseSync {
  try {
    return new DatabaseSync(join(directory, 'owner.lock'))
  } catch (error) {
    throw accessDenied(directory, 'locked', error)
  }
}

// A new owner may not have written its process ID yet.
async function readOwner(file: string): Promise<string> {
  for (let tries = 0; tries < 10; tries++) {
    const owner = readPid(file)
    if (isAlive(owner)) return String(owner)
    await delay(20)
  }
  return 'unknown'
}

function readPid(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10)
  } catch {
    return Number.NaN
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
