import type { Db } from '../database/db.ts'
import { ApiError } from '../errors/api-error.ts'
import { isPerson } from '../store/accounts/people.ts'

/** Throws `account_managed_by_provider` for the account of a person. */
export async function requireLocalAccount(tx: Db, username: string) {
  if (await isPerson(tx, username))
    throw new ApiError(
      'account_managed_by_provider',
      `The identity provider manages the account ${username}. Change the person's groups there, and create other accounts for programs.`,
    )
}
