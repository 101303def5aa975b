import type { Section } from './fault.ts'

export const access: Section = {
  title: 'Sign-in and tenants',
  cases: [
    [
      126,
      'No credentials',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      127,
      'Credentials that are none: without colon, of another scheme, of 64 KB',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
      ['api/access/sign-in.test.ts', 'the authentication scheme is case-insensitive'],
      ['api/requests/methods.test.ts', 'a request can have at most 100 headers of 16 KiB'],
    ],
    [
      128,
      'Base64 with what does not belong in it',
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      129,
      'Colons, accents, control characters in a password',
      ['api/access/sign-in.test.ts', 'the first colon ends the username; the password is compared as UTF-8'],
    ],
    [
      130,
      'Two headers `Authorization`',
      ['api/access/sign-in.test.ts', 'a repeated single-value header is rejected, even with the same value'],
    ],
    [
      131,
      'Two headers `X-Service-Name`',
      ['api/access/sign-in.test.ts', 'a repeated single-value header is rejected, even with the same value'],
    ],
    [
      132,
      'A service that is missing, empty, in another case, in letters that look alike',
      ['api/access/tenants.test.ts', 'an unassigned service and an unknown service get the same response'],
      ['api/access/sign-in.test.ts', 'a request with missing or malformed credentials gets a sign-in challenge'],
    ],
    [
      133,
      "The name of another tenant's service",
      ['api/access/tenants.test.ts', 'an unassigned service and an unknown service get the same response'],
    ],
    [
      134,
      'Identifiers of another tenant, of every kind, in every operation: path, query and body',
      ['api/access/matrix.test.ts', "another service's identifier gets the same response as an unknown identifier"],
      ['api/access/tenants.test.ts', "reading another service's record returns the same 404 as an unknown record"],
      ['api/access/tenants.test.ts', "another service's codes and email addresses match nothing"],
    ],
    [
      135,
      'A password is revoked, or rotated',
      ['runtime/start-workers.test.ts', 'a revocation applies in every process within 5 seconds'],
      ['api/access/accounts.test.ts', 'two passwords stay valid after a rotation; the next ends the oldest'],
    ],
    [
      136,
      'A thousand wrong passwords on one account',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted across servers and blocked after 20 with Retry-After',
      ],
      ['api/access/guessing.test.ts', 'an address that tries many usernames is blocked after 200 failures'],
    ],
    [
      137,
      'An unknown username and a wrong password are told apart by time',
      ['api/access/guessing.test.ts', 'an unknown username takes as long to reject as a wrong password'],
    ],
    [
      138,
      'A secret of another length',
      ['api/access/sign-in.test.ts', 'an unknown username and a wrong password get the same response'],
    ],
    [
      139,
      'Hundreds of wrong sign-ins a second',
      [
        'api/access/guessing.test.ts',
        'wrong passwords are counted across servers and blocked after 20 with Retry-After',
      ],
      ['api/requests/crowding.test.ts', 'continuous wrong sign-ins from many addresses do not delay valid ones'],
    ],
    [
      140,
      'Many tenants at once on few connections, among errors',
      ['api/access/tenants.test.ts', 'concurrent responses of several services never mix, even with errors'],
    ],
    [
      141,
      'A query without a tenant',
      ['api/access/matrix.test.ts', 'an operation without a service name returns nothing and changes nothing'],
    ],
    [
      142,
      'A role of the database that may pass its policies',
      ['api/access/database-roles.test.ts', "a database role that … cannot read or change another service's record"],
    ],
    [
      143,
      'A child that points to a parent of another tenant',
      ['api/access/tenants.test.ts', "a child record cannot reference another service's parent"],
    ],
    [
      144,
      'The same code in two tenants',
      ['api/access/tenants.test.ts', 'two services can use the same identifiers, codes and email addresses'],
    ],
    [
      145,
      'An error of the database',
      ['runtime/outages.test.ts', 'an unexpected error returns only the request ID'],
      ['api/customers/erasure.test.ts', "an unexpected database error is logged without the row's content"],
    ],
    [
      146,
      'One tenant asks for far more than it may',
      ['api/requests/rates.test.ts', 'each account has its own limit in each service'],
      ['api/requests/crowding.test.ts', 'a client over its limit is throttled while another service is served'],
    ],
    [
      147,
      'A body sets what the service keeps itself',
      ['api/customers/fields.test.ts', 'read-only and unknown fields are rejected by name'],
    ],
    [
      148,
      'Every role at every operation',
      ['api/access/matrix.test.ts', 'each operation is rejected for exactly the documented roles'],
    ],
    [
      149,
      'A port for admins, default passwords, open documents',
      ['telemetry/metrics.test.ts', 'the metrics port serves only metrics, and no other port does'],
      ['runtime/start.test.ts', 'the first start prints address, user, password, service and documentation link'],
      ['runtime/start.test.ts', 'a revoked demo account stays revoked'],
    ],
  ],
}
