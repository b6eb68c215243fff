"""The models that answer a task, in order: who is in trouble rests, and the next one answers instead."""

from collections.abc import Callable, Sequence

from engine.errors import ModelError, ProviderError
from engine.events import ModelNote
from engine.llm.hearing import Hearing
from engine.llm.policy import COURSES, rest_after
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest
from engine.records.models import Speaking
from engine.records.prompts import Task


class Endpoint:
    """One model as it stands in routes, and the rest it has after trouble. One object for all tasks that name it."""

    def __init__(self, called: str, model: LanguageModel, clock: Callable[[], float]) -> None:
        """`called` is what people call it, `clock` counts seconds."""
        self.called, self.model = called, model
        self.trouble = ""
        """Why it rests, as what follows its name."""
        self.told: set[Task] = set()
        """The tasks whose listeners know that it rests."""
        self._clock, self._until = clock, 0.0

    @property
    def rests(self) -> float:
        """Seconds that it still rests; 0 when it does not."""
        return max(0.0, self._until - self._clock())

    def answered(self) -> None:
        """It is well."""
        self._until = 0.0

    def failed(self, error: ProviderError) -> None:
        """It may have to rest."""
        if seconds := rest_after(error):
            self._until, self.trouble, self.told = self._clock() + seconds, COURSES[error.trouble].says, set()


class Chain:
    """Asks endpoints in order until one answers. It says of itself what the first of them says that does not rest."""

    def __init__(
        self, endpoints: Sequence[Endpoint], tell: Callable[[ModelNote], None], *, temperature: float | None = None,
        timeout: float | None = None,
    ) -> None:
        """`temperature` and `timeout` (seconds of silence) are the task's own; None leaves them to each endpoint."""
        self._endpoints, self._tell = tuple(endpoints), tell
        self._speaks: dict[Task, Endpoint] = {}
        """Who was asked last for a task, once another has failed; who answered it last."""
        self._own = {name: value for name, value in (("temperature", temperature), ("timeout", timeout)) if value is not None}

    @property
    def name(self) -> str:
        """Id of the model that would be asked now."""
        return self._front.model.name

    @property
    def context_window(self) -> int:
        """Of the model that would be asked now."""
        return self._front.model.context_window

    @property
    def small(self) -> bool:
        """As the model that would be asked now."""
        return self._front.model.small

    def count_tokens(self, text: str) -> int:
        """As the model counts that would be asked now."""
        return self._front.model.count_tokens(text)

    def speaking(self, task: Task) -> Speaking:
        """Who answers a task now. One that stands in does until the first in line has answered it again."""
        first = self._endpoints[0]
        speaks = self._front if first.rests else self._speaks.get(task, first)
        return Speaking(model=speaks.model.name, away="" if speaks is first else first.model.name)

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply of the first endpoint that gives one; those that rest are asked last.

        Raises `CapReachedError`; `ModelError` of an endpoint whose trouble wants a person, at once; and when all are in trouble, that of
        the first in the route.
        """
        own = {name: value for name, value in self._own.items() if getattr(request, name) is None}
        request = request.model_copy(update=own) if own else request
        hearing, errors = Hearing(heard), dict[Endpoint, ModelError]()
        line = self._line()
        if line[0] is not self._endpoints[0]:
            self._tell_of_rest(request.task, line[0])
        for place, endpoint in enumerate(line):
            if place:
                hearing.begin_anew()
            try:
                completion = await endpoint.model.complete(request, hearing.ear)
            except ProviderError as error:
                endpoint.failed(error)
                if self._ends(endpoint, error):
                    raise
                errors[endpoint] = error
                if place + 1 < len(line):
                    what = f"{endpoint.called} {COURSES[error.trouble].says}"
                    self._tell(_note(request.task, endpoint, f"{what}; {line[place + 1].called} answers instead."))
                    endpoint.told.add(request.task)
                    self._speaks[request.task] = line[place + 1]
            except ModelError as error:  # not a provider's: the task is not played there
                if not errors:
                    raise
                errors[endpoint] = error
            else:
                endpoint.answered()
                self._speaks[request.task] = endpoint
                return completion
        raise next(errors[endpoint] for endpoint in self._endpoints if endpoint in errors)

    @property
    def _front(self) -> Endpoint:
        return next((endpoint for endpoint in self._endpoints if not endpoint.rests), self._endpoints[0])

    def _line(self) -> list[Endpoint]:
        """Whom to ask, in order."""
        return sorted(self._endpoints, key=lambda endpoint: endpoint.rests > 0)

    def _ends(self, endpoint: Endpoint, error: ProviderError) -> bool:
        """Whether nobody else is asked. A text too long for an endpoint that stands in is cut by whoever asks only while the chain says
        of itself what that one says."""
        if error.trouble == "too_long":
            return endpoint is self._front
        return not COURSES[error.trouble].others

    def _tell_of_rest(self, task: Task, instead: Endpoint) -> None:
        """Once a task and rest, or every call would tell it."""
        first = self._endpoints[0]
        if task not in first.told:
            first.told.add(task)
            text = f"{first.called} {first.trouble} and rests for {first.rests:.0f} s; {instead.called} answers instead."
            self._tell(_note(task, first, text))


def _note(task: Task, endpoint: Endpoint, text: str) -> ModelNote:
    return ModelNote(task=task, model=endpoint.model.name, text=f"{task}: {text}")
