import pytest

# On a GPU nobody looks at the values of floating masks, and all of them are told.
TOLD = pytest.mark.filterwarnings("ignore:masks is of dtype")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, TOLD])])
def device(request):
    return request.param
