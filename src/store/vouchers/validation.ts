import { type Db, sql } from '../../database/db.ts'
import type { Service } from '../../domain/tenancy/service-settings.ts'

/** Earlier validations that a voucher keeps. */
const maxSuperseded = 20

/** The earlier validations after the newest one has ended. */
export const superseded = sql`(case when validation_hash is null then superseded_hashes else array_prepend(validation_hash, superseded_hashes) end)[1:${maxSuperseded}::integer]`

/** Replaces the validation of a voucher, by its hash. */
export const storeValidation = (tx: Db, service: Service, number: string, hash: Buffer) =>
  tx.run(sql`
    update voucher
       set validation_hash = ${hash}, validated_until = statement_timestamp() + interval '24 hours',
           superseded_hashes = ${superseded}
     where service_id = ${service.id} and number = ${number}`)

/** Ends the validation of a voucher after a redemption or a suspension. */
export const endValidation = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update voucher set validation_hash = null, validated_until = null, superseded_hashes = ${superseded}
     where service_id = ${service.id} and number = ${number}`)

/** Ends the validation of a locked voucher together with its lock: the lock holder can continue until then. */
export const endValidationWithLock = (tx: Db, service: Service, number: string) =>
  tx.run(sql`
    update voucher set validated_until = least(validated_until, locked_until)
     where service_id = ${service.id} and number = ${number}`)
