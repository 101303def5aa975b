import { type Db, sql } from '../../database/db.ts'

/** The context that the encrypted secret of an account is bound to. */
export const getSecondFactorContext = (username: string) => `second factor ${username}`

/** Stores the second factor of an account. `step` is the time step of the code that confirmed it. Returns false if the account has one. */
export const insertSecondFactor = async (
  tx: Db,
  username: string,
  { secret, step, recoveryHashes }: { secret: Buffer; step: number; recoveryHashes: readonly Buffer[] },
) =>
  (await tx.run(sql`
    insert into second_factor (username, secret, last_step, recovery_hashes)
    values (${username}, ${secret}, ${step}, ${recoveryHashes}::bytea[]) on conflict do nothing`)) > 0

export const hasSecondFactor = async (db: Db, username: string) =>
  (await db.run(sql`select from second_factor where username = ${username}`)) > 0

/** Locks the second factor of an account, so that no code is accepted twice. Returns undefined if it has none. */
export const lockSecondFactor = (tx: Db, username: string) =>
  tx.row<{ secret: Buffer }>(sql`select secret from second_factor where username = ${username} for update`)

/** Records the time step of a code. Returns false if this step or a later one was used before. */
export const spendStep = async (tx: Db, username: string, step: number) =>
  (await tx.run(
    sql`update second_factor set last_step = ${step} where username = ${username} and last_step < ${step}`,
  )) > 0

/** Removes a recovery code. Returns false if the account doesn't have it. */
export const spendRecoveryCode = async (tx: Db, username: string, hash: Buffer) =>
  (await tx.run(sql`
    update second_factor set recovery_hashes = array_remove(recovery_hashes, ${hash}::bytea)
     where username = ${username} and ${hash}::bytea = any(recovery_hashes)`)) > 0

/** Removes the second factor of an account. Returns false if it has none. */
export const deleteSecondFactor = async (tx: Db, username: string) =>
  (await tx.run(sql`delete from second_factor where username = ${username}`)) > 0
