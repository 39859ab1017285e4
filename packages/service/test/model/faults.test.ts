import { strict as assert } from 'node:assert'
import { describe, it } from 'node:test'
import { Fault, type FaultCode, faults, inputTexts } from '../../src/model/faults.ts'

/** What clients match on: codes, status and text, letter for letter, with the service's own misspelling. */
// biome-ignore format: a table reads in columns
const told: readonly (readonly [status: number, code: FaultCode, text: string])[] = [
  [400, 'InvalidInput', 'One of the request inputs is not valid.'],
  [400, 'InvalidDuplicateRow', 'The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.'],
  [400, 'CommandsInBatchActOnDifferentPartitions', 'All commands in a batch must operate on same entity group.'],
  [400, 'InvalidResourceName', 'The specifed resource name contains invalid characters.'],
  [400, 'OutOfRangeInput', 'One of the request inputs is out of range.'],
  [400, 'PropertiesNeedValue', 'The values are not specified for all properties in the entity.'],
  [400, 'PropertyNameTooLong', 'The property name exceeds the maximum allowed length (255).'],
  [400, 'PropertyNameInvalid', 'The property name is invalid.'],
  [400, 'PropertyValueTooLarge', 'The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less.'],
  [400, 'TooManyProperties', 'The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity also has 3 system properties.'],
  [400, 'EntityTooLarge', 'The entity is larger than the maximum allowed size (1MB).'],
  [400, 'InvalidHeaderValue', 'The value for one of the HTTP headers is not in the correct format.'],
  [400, 'InvalidUri', 'The requested URI does not represent any resource on the server.'],
  [400, 'InvalidQueryParameterValue', 'Value for one of the query parameters specified in the request URI is invalid.'],
  [400, 'InvalidXmlDocument', 'XML specified is not syntactically valid.'],
  [400, 'InvalidAuthenticationInfo', 'Authentication information is not given in the correct format. Check the value of Authorization header.'],
  [400, 'DuplicatePropertiesSpecified', 'A property is specified more than one time.'],
  [400, 'InvalidValueType', 'The value specified is invalid.'],
  [400, 'XMethodNotUsingPost', 'The request uses X-HTTP-Method with an HTTP verb other than POST.'],
  [400, 'XMethodIncorrectValue', 'The specified X-HTTP-Method is invalid.'],
  [400, 'XMethodIncorrectCount', 'More than one X-HTTP-Method is specified.'],
  [400, 'MissingRequiredHeader', 'A required HTTP header was not specified.'],
  [400, 'OutOfRangeQueryParameterValue', 'One of the query parameters specified in the request URI is outside the permissible range.'],
  [401, 'NoAuthenticationInformation', 'Server failed to authenticate the request. Please refer to the information in the www-authenticate header.'],
  [403, 'AuthenticationFailed', 'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.'],
  [403, 'AuthorizationFailure', 'This request is not authorized to perform this operation.'],
  [403, 'AuthorizationPermissionMismatch', 'This request is not authorized to perform this operation using this permission.'],
  [403, 'AccountIsDisabled', 'The specified account is disabled.'],
  [403, 'InsufficientAccountPermissions', 'The account being accessed does not have sufficient permissions to execute this operation.'],
  [404, 'ResourceNotFound', 'The specified resource does not exist.'],
  [404, 'TableNotFound', 'The table specified does not exist.'],
  [405, 'MethodNotAllowed', 'The requested method is not allowed on the specified resource.'],
  [405, 'UnsupportedHttpVerb', "The resource doesn't support specified Http Verb."],
  [409, 'EntityAlreadyExists', 'The specified entity already exists.'],
  [409, 'TableAlreadyExists', 'The table specified already exists.'],
  [409, 'TableBeingDeleted', 'The specified table is being deleted. Try operation later.'],
  [411, 'MissingContentLengthHeader', 'The Content-Length header was not specified.'],
  [412, 'UpdateConditionNotSatisfied', 'The update condition specified in the request was not satisfied.'],
  [412, 'ConditionNotMet', 'The condition specified using HTTP conditional header(s) is not met.'],
  [413, 'RequestBodyTooLarge', 'The request body is too large and exceeds the maximum permissible limit.'],
  [415, 'MediaTypeNotSupported', 'None of the provided media types are supported'],
  [415, 'AtomFormatNotSupported', 'Atom format is not supported.'],
  [500, 'OperationTimedOut', 'The operation could not be completed within the permitted time.'],
  [500, 'InternalError', 'The server encountered an internal error. Please retry the request.'],
  [501, 'NotImplemented', 'The requested operation is not implemented on the specified resource.'],
  [503, 'ServerBusy', 'The server is busy.'],
]

describe('a fault', () => {
  for (const [status, code, text] of told) {
    it(`${code} is ${status}, in these words`, () => {
      assert.deepEqual(faults[code], [status, text])
      const fault = new Fault(code)
      assert.deepEqual([fault.status, fault.code, fault.message], [status, code, text])
    })
  }

  it('has a status of a refusal and a text of one line', () => {
    for (const [code, [status, text]] of Object.entries(faults)) {
      assert(status >= 400 && status < 600, code)
      assert.match(text, /^[\u0020-\u007e]+$/, code)
      assert.match(code, /^[A-Z][A-Za-z0-9]+$/)
    }
  })

  it('may speak otherwise, and keeps its cause to itself', () => {
    const cause = new Error('secret')
    const fault = new Fault('InvalidInput', { text: inputTexts.conversion, cause })
    assert.equal(fault.message, 'An error occurred while processing this request.')
    assert.equal(fault.status, 400)
    assert.equal(fault.cause, cause)
    assert(!('cause' in new Fault('InvalidInput')))
    assert.equal(inputTexts.querySyntax, 'Bad Request - Error in query syntax.')
  })
})
