import type { Db } from '../../database/db.ts'
import { isPerson } from '../../store/accounts/people.ts'

/** Throws if the identity provider manages an account. */
export async function requireLocalAccount(tx: Db, username: string) {
  if (await isPerson(tx, username))
    throw new Error(
      `The identity provider manages the account ${username}. Change the person's groups there, and create other accounts for programs.`,
    )
}
